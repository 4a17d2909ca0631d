"""The queues' guarantees sum to more than the nodes have."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.amounts import shown
from policygen.lint.rule import Facts, Family, Need, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """What is guaranteed to one is taken from all others' real capability.

    Source: pkg/scheduler/plugins/capacity/capacity.go, totalGuarantee; volcano-sh/volcano#3127.
    """
    there = facts.cluster.derive(queues.inventory)
    if not facts.cluster.nodes.any:
        return  # lower numbers would not help
    tree = facts.cluster.derive(queues.tree)
    top = [it for it in tree.children.get(queues.ROOT, ()) if it.it.guarantee.resource]
    for name in sorted({name for queue in top for name in queue.it.guarantee.resource}):
        owners = [queue for queue in top if name in queue.it.guarantee.resource]
        total = sum((it.it.guarantee.resource[name] for it in owners), Fraction(0))
        has = there.get(name, Fraction(0))
        if total > has:
            yield Hit(
                RULE,
                f"the guarantees of the topmost queues sum to {shown(name, total)} {name}, and the "
                f"nodes have {shown(name, has)}: all other queues' limits shrink; lower them",
                owners[-1].at.to("spec", "guarantee", "resource", name),
                tuple(queue.at for queue in owners[:-1][:5]),
            )


RULE = ObjectRule(
    "guarantees-exceed-cluster",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.NODES, Need.WHOLE}),
    reads=("Node",),
)
