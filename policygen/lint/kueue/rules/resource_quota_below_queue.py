"""A ResourceQuota is lower than what the namespace's ClusterQueue admits."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.amounts import shown
from policygen.lint.kueue.queue_names import target
from policygen.lint.kueue.quotas import quotas
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Kueue admits, the API server refuses the pods, and the quota stays taken.

    Judged where the queue serves no other namespace, whose share a lower one might be.
    Source: issues 696, 1403.
    """
    cluster = facts.cluster
    in_namespace, of_queue = cluster.local_queues.by_namespace, cluster.local_queues.by(target)
    for entry in cluster.resource_quotas:
        if not entry.it.counts_all:
            continue
        for local in in_namespace.get(entry.namespace, ()):
            queue = cluster.cluster_queues.get(local.it.cluster_queue)
            if queue is None or len({it.namespace for it in of_queue[queue.name]}) > 1:
                continue
            nominal: dict[str, Fraction] = {}
            for it in quotas(queue):
                nominal[it.resource] = nominal.get(it.resource, Fraction(0)) + (
                    it.quota.nominal_quota
                )
            for key, hard in entry.it.hard.items():
                resource = key.removeprefix("requests.")
                if "/" in resource and resource == key:
                    continue  # counted nowhere: `gpu-quota-binds-nothing`
                if 0 <= hard < nominal.get(resource, Fraction(0)):
                    yield Hit(
                        RULE,
                        f"{entry} allows {shown(resource, hard)} {resource}, and {queue} admits "
                        f"{shown(resource, nominal[resource])} there, so admitted jobs get no pods; "
                        "leave compute to the queue, or raise it",
                        entry.at.to("spec", "hard", key),
                        related=(queue.at.to("spec", "resourceGroups"),),
                    )


RULE = ObjectRule(
    "resource-quota-below-queue",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ResourceQuota",),
    check=check,
    reads=("LocalQueue", "ClusterQueue"),
)
