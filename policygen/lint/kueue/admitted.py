"""What the ClusterQueues of a namespace admit without borrowing, for each amount of its ResourceQuotas."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.amounts import readable, total, written
from policygen.core.finding import At
from policygen.core.quoting import some
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import ResourceQuotaView
from policygen.kubernetes.kueue_jobs import target
from policygen.kubernetes.table import Entry
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
        """The amount as in a manifest."""
        return written(self.resource, self.amount)


def admitted(cluster: Cluster) -> Mapping[At, Admitted]:
    """The amounts by place of their limit; use it with `cluster.derive`.

    Several queues add up. Queues that also serve other namespaces do not count, since their quota can
    be used there.
    """
    in_namespace, of_queue = cluster.local_queues.by_namespace, cluster.local_queues.by(target)
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
                )
    return found
