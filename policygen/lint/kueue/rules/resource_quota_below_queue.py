"""A ResourceQuota allows less than the namespace's ClusterQueues admit."""

from fractions import Fraction

from policygen.core.amounts import amount_of, readable, total, written
from policygen.core.quoting import some
from policygen.kubernetes.kueue_jobs import target
from policygen.lint.kueue.quotas import quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue admits jobs whose pods the API server refuses; they hold the queue's quota unused.

    Several queues add up. Queues that also serve other namespaces do not count, since their quota can
    be used there. Source: issues 696, 1403.
    """
    cluster = facts.cluster
    in_namespace, of_queue = cluster.local_queues.by_namespace, cluster.local_queues.by(target)
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
        for key, hard in entry.fields.hard.items():
            resource = key.removeprefix("requests.")
            if "/" in resource and resource == key:
                continue  # `gpu-quota-counts-nothing` reports it
            queues = [it for it in nominal if nominal[it].get(resource)]
            admitted = sum((nominal[it][resource] for it in queues), Fraction(0))
            if 0 <= hard < admitted:
                names = [f"ClusterQueue {it.fields.cluster_queue}" for it in queues]
                who = (
                    f"{names[0]} admits"
                    if len(names) == 1
                    else f"{some(names, 'queue')} together admit"
                )
                yield Hit(
                    RULE,
                    f"{entry} allows {amount_of(resource, hard, admitted)}, but {who} "
                    f"{readable(resource, admitted, hard)} in this namespace, so the API server refuses pods "
                    f"of admitted jobs; write at least {written(resource, admitted)}, or remove {key} from "
                    "the ResourceQuota",
                    entry.at.to("spec", "hard", key),
                    related=tuple(it.at for it in queues),
                )


RULE = ObjectRule(
    "resource-quota-below-queue",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Raise the amounts in spec.hard, or remove the compute resources from spec.hard.",
    judges=("ResourceQuota",),
    check=check,
    reads=("LocalQueue", "ClusterQueue"),
)
