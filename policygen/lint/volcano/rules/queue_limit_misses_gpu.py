"""A queue's limit leaves out GPUs that other queues count, so it has as many as there are."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import Cluster
from policygen.lint.core import accelerators
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """A resource that capability lacks is bounded by the nearest ancestor that has it, else not.

    Queues that an affinity keeps on nodes of their own are left out.
    Source: pkg/scheduler/plugins/capacity/capacity.go; volcano-sh/volcano#3558.
    """
    known = facts.cluster.derive(_known)
    for queue in facts.cluster.queues:
        it = queue.it
        if not it.capability or it.affinity or queue.name == queues.ROOT:
            continue
        above = [it.capability]
        above += [each.it.capability for each in queues.ancestors(facts.cluster, queue)]
        for name in sorted(known):
            if not any(name in each for each in above):
                yield Hit(
                    RULE,
                    f"{queue} has a capability without {name}, so it may use all of them; write "
                    "an amount, or 0 for none",
                    queue.at.to("spec", "capability"),
                )


def _known(cluster: Cluster) -> frozenset[str]:
    """The accelerators that queues count."""
    return frozenset(
        name
        for queue in cluster.queues
        for amounts in (queue.it.capability, queue.it.deserved, queue.it.guarantee.resource)
        for name in amounts
        if accelerators.is_one(name)
    )


RULE = ObjectRule(
    "queue-limit-misses-gpu",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
)
