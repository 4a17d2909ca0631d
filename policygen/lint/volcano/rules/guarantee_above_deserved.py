"""A Queue is guaranteed more than it deserves."""

from fractions import Fraction

from policygen.core.amounts import amount_of, readable, written
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.rule import written as wrote
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
                advice = _advice(facts, queue, name)
                at = queue.at.to("spec", "guarantee", "resource", name)
                yield Hit(
                    RULE,
                    f"{queue} is guaranteed {amount_of(name, amount, own)} but deserves "
                    f"{has}{queues.refusing(by, target)}; {advice}",
                    at,
                    (queue.at.to("spec", "deserved"),),
                    # What the excess takes from other queues follows from it.
                    meant=wrote(at, written(name, own))
                    if own and advice.startswith("lower")
                    else (),
                )


def _advice(facts: Facts, queue: Entry[QueueView], name: str) -> str:
    """To raise deserved, if the capability, the parent and the nodes leave room for the guarantee."""
    amount, own = queue.fields.guarantee.resource[name], queue.fields.deserved.get(name)
    limit = queue.fields.capability.get(name)
    if limit is None or not 0 < limit < amount:
        room = queues.room(facts.cluster, queue, queues.DESERVED, name)
        if own and room and own <= room.free < amount:
            beside = (
                f" and other queues deserve {readable(name, room.others)}" if room.others else ""
            )
            return (
                f"lower the guarantee to at most {readable(name, own, amount)}, because {room.of} "
                f"{readable(name, room.have, amount)}{beside}{_in_parent(facts, queue, name, own)}"
            )
        return f"raise deserved to at least the guarantee{_in_parent(facts, queue, name, amount)}"
    most = readable(name, limit if own is None else own, amount)
    also = ", and write it in deserved too" if own is None else ""
    return f"lower the guarantee to at most {most}, because the capability is {readable(name, limit, amount)}{also}"


def _in_parent(facts: Facts, queue: Entry[QueueView], name: str, amount: Fraction) -> str:
    """What to change in the parent, if its guarantee is below that of its children then; else ""."""
    parent = facts.cluster.queues.get(queue.fields.parent) if queue.fields.parent else None
    if (
        parent is None
        or parent.name == queues.ROOT
        or facts.target["volcano"].release < _NEEDS_DESERVED
    ):
        return ""
    needed = amount + queues.of_siblings(facts.cluster, queue, queues.GUARANTEE, name)
    if parent.fields.guarantee.resource.get(name, 0) >= needed:
        return ""
    return f", and guarantee {parent} at least {readable(name, needed)}"


RULE = ObjectRule(
    "guarantee-above-deserved",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Raise deserved to at least the guarantee.",
    judges=("Queue",),
    reads=("Node",),
    check=check,
    may_exist=True,
    since={"volcano": (1, 13)},
)
