"""The Queues together deserve more than the nodes have."""

from fractions import Fraction

from policygen.core.amounts import amount_of, shown
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """Volcano does not compare the queues below root with the nodes.

    guarantees-exceed-cluster reports guarantees.

    Source: pkg/scheduler/plugins/capacity/capacity.go; queues/validate/validate_queue.go.
    """
    inventory = facts.cluster.derive(queues.inventory)
    if not facts.cluster.nodes.any:
        return  # lower amounts would not help
    top = facts.cluster.derive(queues.tree).children.get(queues.ROOT, ())
    for name in sorted({name for queue in top for name in queue.it.deserved}):
        owners = [queue for queue in top if name in queue.it.deserved]
        total = sum((queue.it.deserved[name] for queue in owners), Fraction(0))
        guaranteed = sum(queue.it.guarantee.resource.get(name, 0) for queue in owners)
        has = inventory.get(name, Fraction(0))
        if total > has >= guaranteed:
            yield Hit(
                RULE,
                f"the queues below root deserve {amount_of(name, total, has)} together, but the "
                f"nodes have {shown(name, has, total)}, so the last queue finds no other queue "
                "above its share to reclaim from; lower them",
                owners[-1].at.to("spec", "deserved", name),
                tuple(queue.at for queue in owners[:-1][:5]),
            )


RULE = ObjectRule(
    "deserved-exceeds-cluster",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Lower deserved until the sum fits the nodes.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.NODES, Need.WHOLE}),
)
