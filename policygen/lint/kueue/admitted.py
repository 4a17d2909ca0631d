"""What the ClusterQueues of a namespace admit without borrowing, for each amount of its ResourceQuotas."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.amounts import amount_of, readable, total, written
from policygen.core.finding import At
from policygen.core.quoting import some
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import ResourceQuotaView
from policygen.kubernetes.kueue_jobs import DEFAULT_QUEUE, managed, queued, target
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import Workload
from policygen.lint.core.namespace_quotas import used_by
from policygen.lint.core.queue_sums import LASTING
from policygen.lint.kueue.quotas import quotas


class Admitted(Struct, frozen=True, eq=False):
    """The nominal quotas of queues of one namespace for a resource that a ResourceQuota limits."""

    quota: Entry[ResourceQuotaView]
    key: str
    """The key in `hard` of the ResourceQuota."""
    resource: str
    amount: Fraction
    names: list[str]
    """The ClusterQueues, as in messages."""
    related: Sequence[At]
    """The LocalQueues."""
    beside: Mapping[Workload, Fraction] = {}
    """What workloads of the namespace use that are in no queue of Kueue."""

    def exceed(self, limit: Fraction) -> bool:
        """Whether the queues admit more than a limit of the ResourceQuota."""
        return 0 <= limit < self.amount

    def nominal(self, limit: Fraction) -> str:
        """The sum, in a message that also has `limit`. The queues may borrow more."""
        amount = readable(self.resource, self.amount, limit)
        if len(self.names) == 1:
            return f"the nominalQuota of {self.names[0]} is {amount}"
        return f"the nominalQuotas of {some(self.names, 'queue')} sum to {amount}"

    @property
    def written(self) -> str:
        """The amount of the queues and of the workloads beside them, as in a manifest."""
        return written(self.resource, sum(self.beside.values(), self.amount))

    @property
    def others(self) -> str:
        """The workloads beside the queues, as the end of a message."""
        if not self.beside:
            return ""
        amount = amount_of(self.resource, sum(self.beside.values(), Fraction(0)))
        who = some([str(it) for it in self.beside], "other workload")
        verbs = ("is", "needs") if len(self.beside) == 1 else ("are", "need")
        return f", and {who}, which {verbs[0]} in no queue of Kueue, {verbs[1]} {amount}"


def admitted(cluster: Cluster) -> Mapping[At, Admitted]:
    """The amounts by place of their limit; use it with `cluster.derive`.

    Several queues add up. Queues that also serve other namespaces do not count, since their quota can
    be used there.
    """
    in_namespace, of_queue = cluster.local_queues.by_namespace, cluster.local_queues.by(target)
    outside = cluster.derive(_outside)
    found = {}
    for entry in cluster.resource_quotas:
        if not entry.fields.counts_all:
            continue
        nominal = {
            local: total({it.resource: it.quota.nominal_quota} for it in quotas(queue))
            for local in {
                it.fields.cluster_queue: it for it in in_namespace.get(entry.namespace, ())
            }.values()
            if (queue := cluster.cluster_queues.get(local.fields.cluster_queue))
            and len({it.namespace for it in of_queue[queue.name]}) == 1
        }
        for key in entry.fields.hard:
            resource = key.removeprefix("requests.")
            if "/" in resource and resource == key:
                continue  # `gpu-quota-counts-nothing` reports it
            queues = [it for it in nominal if nominal[it].get(resource)]
            if queues:
                found[entry.at.to("spec", "hard", key)] = Admitted(
                    entry,
                    key,
                    resource,
                    sum((nominal[it][resource] for it in queues), Fraction(0)),
                    [f"ClusterQueue {it.fields.cluster_queue}" for it in queues],
                    [it.at for it in queues],
                    {
                        it: used
                        for it in outside.get(entry.namespace, ())
                        if (used := used_by(cluster, it, key))
                    },
                )
    return found


def _outside(cluster: Cluster) -> Mapping[str, Sequence[Workload]]:
    """The workloads in no queue of Kueue, by namespace; whether Jobs on a cluster have ended is not known."""
    inside = {it.workload.at for it in cluster.derive(queued)}
    known = cluster.local_queues
    inside |= {it.at for it in managed(cluster) if known.knows(DEFAULT_QUEUE, it.namespace)}
    found: dict[str, list[Workload]] = {}
    for it in cluster.workloads if cluster.resource_quotas.any else ():
        if it.at not in inside and (cluster.seen is None or it.kind in LASTING):
            found.setdefault(it.namespace, []).append(it)
    return found
