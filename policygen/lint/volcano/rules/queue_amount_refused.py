"""A Queue has a negative amount, or a fraction of an indivisible resource."""

from policygen.core.amounts import amount_of
from policygen.core.label_grammar import key_fault
from policygen.core.standard_resources import whole
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written
from policygen.lint.volcano import queues

_THOUSAND = 1000
"""Thousandths, such as 8m for 8, are the likely mistake."""


def check(facts: Facts) -> Hits:
    """Releases before 1.14 do not check it.

    Source: queues/validate/validate_queue.go, validateResourceOfQueue.
    """
    for queue in facts.cluster.queues:
        for path, amounts in queues.amounts(queue.fields).items():
            for name, amount in amounts.items():
                # To Kubernetes, an invalid name is not an extended resource.
                extended = whole(name) and not key_fault(f"requests.{name}")
                fraction = amount.denominator != 1 and extended
                if amount < 0 or fraction:
                    at = queue.at.to("spec", *path, name)
                    yield Hit(
                        RULE,
                        f"{queue} has {amount_of(name, amount)} in {path[0]}, which Volcano refuses; write "
                        f"{'a whole number' if fraction else '0 or more'}",
                        at,
                        meant=written(at, f"{_THOUSAND * amount if fraction else -amount}"),
                    )


RULE = ObjectRule(
    "queue-amount-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write 0 or more; for resources such as GPUs, write a whole number.",
    judges=("Queue",),
    check=check,
    since={"volcano": (1, 14)},
)
