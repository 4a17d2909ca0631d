"""A queue is bound to groups of nodes, and the scheduler has no plugin that reads it."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Need, Rule
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Iterator[Claim]:
    """Only nodegroup reads spec.affinity.

    Source: pkg/scheduler/plugins/nodegroup/nodegroup.go.
    """
    configuration = settings(facts)
    if configuration is None or configuration.plugin("nodegroup") is not None:
        return
    for queue in facts.cluster.queues:
        if queue.it.affinity:
            yield Claim(
                f"{queue} has an affinity to groups of nodes, and the scheduler's configuration "
                "lacks nodegroup, so its jobs run anywhere; add the plugin",
                queue.at.to("spec", "affinity").on_key(),
                (configuration.entry.at / "tiers",),
            )


RULE = Rule(
    "queue-affinity-ignored",
    Severity.ERROR,
    Family.INERT,
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    reads=("volcano-scheduler.conf",),
)
