"""A Queue is guaranteed more than it deserves."""

from fractions import Fraction

from policygen.core.amounts import amount_of, readable
from policygen.kubernetes.volcano import Amounts
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues

_NEEDS_DESERVED = (1, 14)
"""The first release in which a queue with a guarantee must set deserved."""


def check(facts: Facts) -> Hits:
    """From 1.14.2 on each resource of the guarantee must be in deserved, and not above it.

    In 1.13 only if deserved is set; earlier releases silently lower it. Up to 1.14.1, deserved may
    omit a guarantee of 0 cpu or memory, and only resources that Volcano counts are compared.

    Source: pkg/webhooks/admission/queues/validate/validate_queue.go; volcano-sh/volcano#4995.
    """
    target = facts.target["volcano"]
    webhooks = queues.webhooks(target)
    for queue in facts.cluster.queues:
        deserved, guarantee = queue.fields.deserved, queue.fields.guarantee.resource
        if not (deserved or target.release >= _NEEDS_DESERVED):
            continue
        complete = queues.above(queues.counted(guarantee), deserved)
        for name, amount in guarantee.items():
            own = deserved.get(name)
            by = {queues.Webhook.LISTED} if own is None or amount > own else set()
            if name in complete:
                by.add(queues.Webhook.COMPLETE)
            by &= webhooks
            if by:
                has = "nothing" if own is None else readable(name, own, amount)
                yield Hit(
                    RULE,
                    f"{queue} is guaranteed {amount_of(name, amount, own)} but deserves "
                    f"{has}{queues.refusing(by, target)}; {_advice(name, amount, own, queue.fields.capability)}",
                    queue.at.to("spec", "guarantee", "resource", name),
                    (queue.at.to("spec", "deserved"),),
                )


def _advice(name: str, amount: Fraction, own: Fraction | None, capability: Amounts) -> str:
    """To raise deserved, if the capability leaves room for the guarantee."""
    limit = capability.get(name)
    if limit is None or not 0 < limit < amount:
        return "raise deserved to at least the guarantee"
    most = readable(name, limit if own is None else own, amount)
    also = ", and write it in deserved too" if own is None else ""
    return f"lower the guarantee to at most {most}, because the capability is {readable(name, limit, amount)}{also}"


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
