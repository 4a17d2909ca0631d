"""Pods request more than the capability of their Volcano Queue, so some of them never start."""

from fractions import Fraction

from msgspec import Struct

from policygen.core.amounts import amount_of, readable
from policygen.core.names import POD_GROUP
from policygen.core.quoting import counted
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.kubernetes.workloads import KINDS, PodTemplate
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues

_IN_TURN = ("Job", "CronJob", "JobSet", "Pod")
"""Kinds whose pods end, so that others can start."""


class PodLimit(Struct, frozen=True, eq=False):
    """How many pods of a template fit a capability."""

    pods: int
    resource: str
    amount: Fraction
    """The request of one pod."""
    limit: Fraction
    queue: Entry[QueueView]


def check(facts: Facts) -> Hits:
    """A capability limits the pods that run at once. gang-exceeds-queue reports gangs.

    Source: pkg/scheduler/plugins/capacity/capacity.go, allocatable.
    """
    cluster = facts.cluster
    for workload in cluster.workloads:
        if workload.object.group == VOLCANO_BATCH:
            continue
        for template in workload.templates:
            queue = queues.queue_of_pods(cluster, workload, template)
            if not queue or POD_GROUP in template.annotations:
                continue
            count = 1 if workload.kind in _IN_TURN else template.replicas or 0
            found = _least(cluster, queue, template)
            if found is None or found.pods >= count:
                continue
            name, amount, limit = found.resource, found.amount, found.limit
            has = f"but Queue {found.queue.name} has a capability of"
            if found.pods:
                message = (
                    f"the {count} pods of {workload} request {amount_of(name, amount * count, limit)} together, "
                    f"{has} {readable(name, limit, amount * count)}, so only {counted(found.pods, 'pod')} "
                    f"{'runs' if found.pods == 1 else 'run'}; lower the number of pods"
                )
            else:
                message = (
                    f"a pod of {workload} requests {amount_of(name, amount, limit)}, {has} "
                    f"{readable(name, limit, amount)}, so no pod starts; lower the request"
                )
            yield Hit(
                RULE,
                f"{message}, or raise the capability",
                template.at / "spec",
                (found.queue.at.to("spec", "capability", name),),
            )


def _least(cluster: Cluster, name: str, template: PodTemplate) -> PodLimit | None:
    """The resource of which the fewest pods fit a queue and its ancestors."""
    own = cluster.queues.get(name)
    found = [
        PodLimit(int(limit // amount), resource, amount, limit, queue)
        for queue in ((own, *queues.ancestors(cluster, own)) if own else ())
        for resource, amount in sorted(template.spec.requests.items(), reverse=True)
        if amount > 0 and (limit := queue.fields.capability.get(resource)) is not None
        if limit > 0 or resource not in ("cpu", "memory")  # 0 of these is no limit
    ]
    return min(found, key=lambda it: it.pods, default=None)


RULE = ObjectRule(
    "pods-exceed-capability",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Lower the replicas or requests, or raise the capability of the queue.",
    judges=KINDS,
    check=check,
    reads=("Queue", "PodGroup"),
)
