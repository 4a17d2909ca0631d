"""The capability of a Queue does not list a GPU resource that other Queues list."""

from policygen.kubernetes.cluster import Cluster
from policygen.lint.core import accelerators
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """The nearest ancestor that lists a resource limits it; without one it has no limit.

    Skips queues with an affinity, which restricts them to nodes of their own.
    Source: pkg/scheduler/plugins/capacity/capacity.go; volcano-sh/volcano#3558.
    """
    known = facts.cluster.derive(_known)
    refuses = "capability-incomplete" in facts.run and queues.refuses_unlisted(
        facts.target["volcano"]
    )
    for queue in facts.cluster.queues:
        if not queue.fields.capability or queue.fields.affinity or queue.name == queues.ROOT:
            continue
        path = (queue, *queues.ancestors(facts.cluster, queue))
        refused = queues.unlisted(queue.fields) if refuses else {}  # by capability-incomplete
        for name in sorted(known - refused.keys()):
            if not any(name in listed.fields.capability for listed in path):
                yield Hit(
                    RULE,
                    f"{queue} does not list {name} in capability, so the queue has no limit for this resource; add the resource to capability, with 0 to forbid its use",
                    queue.at.to("spec", "capability"),
                )


def _known(cluster: Cluster) -> frozenset[str]:
    """The accelerators that queues list."""
    return frozenset(
        name
        for queue in cluster.queues
        for amounts in (
            queue.fields.capability,
            queue.fields.deserved,
            queue.fields.guarantee.resource,
        )
        for name in amounts
        if accelerators.is_one(name)
    )


RULE = ObjectRule(
    "capability-without-gpu",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="List every GPU resource in capability, with 0 to forbid its use.",
    judges=("Queue",),
    check=check,
    aliases=("queue-limit-misses-gpu",),
)
