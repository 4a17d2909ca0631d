"""A Queue is guaranteed more than it deserves."""

from policygen.core.amounts import amount_of, readable
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_NEEDS_DESERVED = (1, 14)
"""The first release in which a queue with a guarantee must set deserved."""


def check(facts: Facts) -> Hits:
    """From 1.14.2 on each resource of the guarantee must be in deserved, and not above it.

    In 1.13 only if deserved is set; earlier releases silently lower it.

    Source: pkg/webhooks/admission/queues/validate/validate_queue.go; volcano-sh/volcano#4995.
    """
    needs_deserved = facts.target["volcano"].release >= _NEEDS_DESERVED
    for queue in facts.cluster.queues:
        if not (queue.fields.deserved or needs_deserved):
            continue
        for name, amount in queue.fields.guarantee.resource.items():
            deserved = queue.fields.deserved.get(name)
            if deserved is None or amount > deserved:
                has = "nothing" if deserved is None else readable(name, deserved, amount)
                yield Hit(
                    RULE,
                    f"{queue} is guaranteed {amount_of(name, amount, deserved)} but deserves "
                    f"{has}; raise deserved to at least the guarantee",
                    queue.at.to("spec", "guarantee", "resource", name),
                    (queue.at.to("spec", "deserved"),),
                )


RULE = ObjectRule(
    "guarantee-above-deserved",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Raise deserved to at least the guarantee.",
    judges=("Queue",),
    check=check,
    may_exist=True,
    since={"volcano": (1, 13)},
)
