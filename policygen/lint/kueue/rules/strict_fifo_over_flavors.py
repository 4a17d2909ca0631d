"""A StrictFIFO queue has flavors that wait for each other."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """A head that waits for one flavor holds up jobs that another would fit.

    Source: concepts/cluster_queue.md; issues 4809, 8309.
    """
    for queue in facts.cluster.cluster_queues:
        if queue.it.queueing_strategy != "StrictFIFO":
            continue
        flavors = [len(group.flavors) for group in queue.it.resource_groups]
        if any(count > 1 for count in flavors):
            yield Hit(
                RULE,
                f"{queue} is StrictFIFO over several flavors, so a job that waits for one holds up "
                "those for the others; use BestEffortFIFO, or a queue for each flavor",
                queue.at.to("spec", "queueingStrategy"),
            )


RULE = ObjectRule(
    "strict-fifo-over-flavors",
    Severity.INFO,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
)
