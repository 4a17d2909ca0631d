"""The guarantees of all Queues together exceed what the nodes have."""

from fractions import Fraction

from policygen.core.amounts import amount_of, shown
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """Volcano subtracts a guarantee from the real capability of all other queues.

    Source: pkg/scheduler/plugins/capacity/capacity.go, totalGuarantee; volcano-sh/volcano#3127.
    """
    inventory = facts.cluster.derive(queues.inventory)
    if not facts.cluster.nodes.any:
        return  # lower amounts would not help
    tree = facts.cluster.derive(queues.tree)
    top = [queue for queue in tree.children.get(queues.ROOT, ()) if queue.it.guarantee.resource]
    for name in sorted({name for queue in top for name in queue.it.guarantee.resource}):
        owners = [queue for queue in top if name in queue.it.guarantee.resource]
        total = sum((queue.it.guarantee.resource[name] for queue in owners), Fraction(0))
        has = inventory.get(name, Fraction(0))
        if total > has:
            yield Hit(
                RULE,
                f"the queues below root are guaranteed {amount_of(name, total, has)} together, "
                f"but the nodes have {shown(name, has, total)}, which shrinks the limits of all "
                "other queues; lower the guarantees",
                owners[-1].at.to("spec", "guarantee", "resource", name),
                tuple(queue.at for queue in owners[:-1][:5]),
            )


RULE = ObjectRule(
    "guarantees-exceed-cluster",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Lower the guarantees until their sum fits the nodes.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.NODES, Need.WHOLE}),
)
