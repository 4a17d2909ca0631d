"""A queue's limit leaves out GPUs that other queues count, so it has as many as there are."""

from collections.abc import Iterator

from policygen.cluster.view import Cluster
from policygen.finding import Severity
from policygen.lint import accelerators, volcano_queues
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """A resource that capability lacks is bounded by the nearest ancestor that has it, else not.

    Queues that an affinity keeps on nodes of their own are left out.
    Source: pkg/scheduler/plugins/capacity/capacity.go; volcano-sh/volcano#3558.
    """
    known = facts.cluster.derive(_known)
    for queue in facts.cluster.queues:
        it = queue.it
        if not it.capability or it.affinity or queue.name == volcano_queues.ROOT:
            continue
        above = [it.capability]
        above += [each.it.capability for each in volcano_queues.ancestors(facts.cluster, queue)]
        for name in sorted(known):
            if not any(name in each for each in above):
                yield Claim(
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


RULE = Rule(
    "queue-limit-misses-gpu",
    Severity.WARNING,
    Family.INERT,
    judges=("Queue",),
    check=check,
)
