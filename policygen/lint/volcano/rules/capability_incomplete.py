"""A Queue deserves or is guaranteed a resource that its capability does not list."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """In 1.13 and up to 1.14.1, a resource that the capability does not list has a limit of 0.

    Source: queues/validate/validate_queue.go, validateResourceOfQueue; volcano-sh/volcano#4995.
    """
    if not queues.refuses_unlisted(facts.target["volcano"]):
        return
    for queue in facts.cluster.queues:
        for name, path in queues.unlisted(queue.fields).items():
            yield Hit(
                RULE,
                f"{queue} has {name} in {path[0]} but not in capability, and Volcano 1.13 to 1.14.1 "
                "refuses such a queue; list the resource in capability too",
                queue.at.to("spec", *path, name),
                (queue.at.to("spec", "capability"),),
            )


RULE = ObjectRule(
    "capability-incomplete",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="List the resource in capability too.",
    judges=("Queue",),
    check=check,
    since={"volcano": (1, 13)},
    until={"volcano": (1, 15)},
    aliases=("capability-leaves-out",),
)
