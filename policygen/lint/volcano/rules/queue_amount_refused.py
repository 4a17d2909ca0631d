"""A queue of Volcano has an amount below 0, or a part of what only comes whole."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.core.amounts import shown
from policygen.lint.core.standard_resources import whole
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Claim]:
    """Before 1.14 nobody looks.

    Source: queues/validate/validate_queue.go, validateResourceOfQueue.
    """
    for queue in facts.cluster.queues:
        for path, amounts in queues.amounts(queue.it).items():
            for name, amount in amounts.items():
                part = amount.denominator != 1 and whole(name)
                if amount < 0 or part:
                    kind = "a whole number" if part else "0 or more"
                    yield Claim(
                        f"{queue} has {shown(name, amount)} {name} as {path[0]}, which is refused; "
                        f"write {kind}",
                        queue.at.to("spec", *path, name),
                    )


RULE = Rule(
    "queue-amount-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=("Queue",),
    check=check,
    since={"volcano": (1, 14)},
)
