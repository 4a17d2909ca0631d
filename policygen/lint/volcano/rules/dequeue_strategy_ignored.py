"""A queue says how its jobs are dequeued, which no release reads."""

from collections.abc import Iterator

from policygen.core.finding import Edit, Severity, Verb
from policygen.lint.rule import Claim, Facts, Family, Fix, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """The field is in the CRD from 1.14 on; only generated conversions touch it.

    Source: all of pkg/ at v1.14.1 and v1.15.1; volcano-sh/volcano#3950.
    """
    for queue in facts.cluster.queues:
        if queue.it.dequeue_strategy not in ("", "traverse"):
            yield Claim(
                f"{queue} has dequeueStrategy {queue.it.dequeue_strategy}, which nothing reads: "
                "later jobs overtake a first one that does not fit; remove it",
                queue.at.to("spec", "dequeueStrategy"),
                edits=(Edit(Verb.REMOVE, queue.at.to("spec", "dequeueStrategy")),),
            )


RULE = Rule(
    "dequeue-strategy-ignored",
    Severity.WARNING,
    Family.INERT,
    judges=("Queue",),
    check=check,
    fix=Fix.SAFE,
    since={"volcano": (1, 14)},
)
