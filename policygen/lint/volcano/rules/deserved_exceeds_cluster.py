"""What the queues deserve sums to more than the nodes have."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.amounts import shown
from policygen.lint.rule import Facts, Family, Need, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """Nothing upstream compares the topmost queues with the nodes. Guarantees are told apart.

    Source: pkg/scheduler/plugins/capacity/capacity.go; queues/validate/validate_queue.go.
    """
    there = facts.cluster.derive(queues.inventory)
    if not facts.cluster.nodes.any:
        return  # lower numbers would not help
    top = facts.cluster.derive(queues.tree).children.get(queues.ROOT, ())
    for name in sorted({name for queue in top for name in queue.it.deserved}):
        owners = [queue for queue in top if name in queue.it.deserved]
        total = sum((queue.it.deserved[name] for queue in owners), Fraction(0))
        promised = sum(queue.it.guarantee.resource.get(name, 0) for queue in owners)
        has = there.get(name, Fraction(0))
        if total > has >= promised:
            yield Hit(
                RULE,
                f"the topmost queues deserve {shown(name, total)} {name} together, and the nodes "
                f"have {shown(name, has)}: who comes last finds nobody above their share to reclaim "
                "from; lower them",
                owners[-1].at.to("spec", "deserved", name),
                tuple(queue.at for queue in owners[:-1][:5]),
            )


RULE = ObjectRule(
    "deserved-exceeds-cluster",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.NODES, Need.WHOLE}),
    reads=("Node",),
)
