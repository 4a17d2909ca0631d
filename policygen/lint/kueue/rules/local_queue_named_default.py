"""A LocalQueue is named default, so it takes all jobs without a queue name."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """It takes every job of its namespace that names no queue.

    Source: pkg/controller/jobframework/defaults.go; issue 13374.
    """
    for local in facts.cluster.local_queues:
        if local.name == "default":
            yield Hit(
                RULE,
                f"{local} takes every job of its namespace that names no queue; write another "
                "name unless this is intended",
                local.at.to("metadata", "name"),
            )


RULE = ObjectRule(
    "local-queue-named-default",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Give the LocalQueue another name if this is not intended.",
    judges=("LocalQueue",),
    check=check,
)
