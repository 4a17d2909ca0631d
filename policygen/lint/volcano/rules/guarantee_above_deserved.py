"""A queue is guaranteed more than it deserves."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.amounts import shown
from policygen.lint.rule import Facts, Family, ObjectRule

_ASKS_FOR_DESERVED = (1, 14)
"""The first release in which a queue with a guarantee must say what it deserves."""


def check(facts: Facts) -> Iterator[Hit]:
    """From 1.14.2 on each resource of the guarantee must be in deserved, and not above it.

    In 1.13 only where deserved says anything; before, it is cut in silence.

    Source: pkg/webhooks/admission/queues/validate/validate_queue.go; volcano-sh/volcano#4995.
    """
    asks = facts.target["volcano"].release >= _ASKS_FOR_DESERVED
    for queue in facts.cluster.queues:
        it = queue.it
        if not (it.deserved or asks):
            continue
        for name, amount in it.guarantee.resource.items():
            deserved = it.deserved.get(name)
            if deserved is None or amount > deserved:
                has = "nothing" if deserved is None else shown(name, deserved)
                yield Hit(
                    RULE,
                    f"{queue} is guaranteed {shown(name, amount)} {name} and deserves {has}; write "
                    f"at least as much into deserved",
                    queue.at.to("spec", "guarantee", "resource", name),
                    (queue.at.to("spec", "deserved"),),
                )


RULE = ObjectRule(
    "guarantee-above-deserved",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("Queue",),
    check=check,
    stands=True,
    since={"volcano": (1, 13)},
)
