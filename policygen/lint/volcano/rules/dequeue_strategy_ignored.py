"""A Queue sets dequeueStrategy, which no release of Volcano reads."""

from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """The CRD has the field from 1.14 on; only generated conversions use it.

    Source: all of pkg/ at v1.14.1 and v1.15.1; volcano-sh/volcano#3950.
    """
    for queue in facts.cluster.queues:
        if queue.fields.dequeue_strategy not in ("", "traverse"):
            yield Hit(
                RULE,
                f"{queue} has dequeueStrategy {queue.fields.dequeue_strategy}, which Volcano ignores: if the first job does not fit, later jobs overtake it; remove dequeueStrategy",
                queue.at.to("spec", "dequeueStrategy"),
                edits=(Edit(Verb.REMOVE, queue.at.to("spec", "dequeueStrategy")),),
            )


RULE = ObjectRule(
    "dequeue-strategy-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Remove dequeueStrategy.",
    judges=("Queue",),
    check=check,
    fix=Fix.SAFE,
    since={"volcano": (1, 14)},
)
