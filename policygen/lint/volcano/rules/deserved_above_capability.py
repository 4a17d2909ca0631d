"""A queue deserves more than its limit."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.amounts import shown
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Up to 1.12 it is cut to the limit in silence; from 1.13 on the webhook refuses it.

    Source: pkg/webhooks/admission/queues/validate/validate_queue.go; volcano-sh/volcano#4292.
    """
    for queue in facts.cluster.queues:
        limits = queue.it.capability
        for name, amount in queue.it.deserved.items():
            # cpu and memory of 0 are no limit
            limit = limits.get(name)
            if limit is not None and amount > limit and (limit or name not in ("cpu", "memory")):
                yield Hit(
                    RULE,
                    f"{queue} deserves {shown(name, amount)} {name} and may use "
                    f"{shown(name, limit)}; lower deserved, or raise capability",
                    queue.at.to("spec", "deserved", name),
                    (queue.at.to("spec", "capability", name),),
                )


RULE = ObjectRule(
    "deserved-above-capability",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("Queue",),
    check=check,
    stands=True,
)
