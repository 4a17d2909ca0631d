"""A LocalQueue is called default."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """It takes every job of its namespace that names no queue.

    Source: pkg/controller/jobframework/defaults.go; issue 13374.
    """
    for local in facts.cluster.local_queues:
        if local.name == "default":
            yield Claim(
                f"{local} takes every job of its namespace that names no queue; give it another "
                "name unless that is meant",
                local.at.to("metadata", "name"),
            )


RULE = Rule(
    "local-queue-named-default",
    Severity.INFO,
    Family.INERT,
    judges=("LocalQueue",),
    check=check,
)
