"""A queue of Volcano has an amount below 0, or a part of what only comes whole."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.amounts import shown
from policygen.lint.core.standard_resources import whole
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """Before 1.14 nobody looks.

    Source: queues/validate/validate_queue.go, validateResourceOfQueue.
    """
    for queue in facts.cluster.queues:
        for path, amounts in queues.amounts(queue.it).items():
            for name, amount in amounts.items():
                part = amount.denominator != 1 and whole(name)
                if amount < 0 or part:
                    kind = "a whole number" if part else "0 or more"
                    yield Hit(
                        RULE,
                        f"{queue} has {shown(name, amount)} {name} as {path[0]}, which is refused; "
                        f"write {kind}",
                        queue.at.to("spec", *path, name),
                    )


RULE = ObjectRule(
    "queue-amount-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("Queue",),
    check=check,
    since={"volcano": (1, 14)},
)
