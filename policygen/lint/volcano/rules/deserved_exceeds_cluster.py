"""The Queues together deserve more than the nodes have."""

from policygen.core.amounts import amount_of, readable
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.rules import deserved_above_capability


def check(facts: Facts) -> Hits:
    """Volcano does not compare the queues below root with the nodes.

    guarantees-exceed-cluster reports guarantees, and deserved-above-capability an amount that is above the
    capability of its queue: it counts here only up to the capability.

    Source: pkg/scheduler/plugins/capacity/capacity.go; queues/validate/validate_queue.go.
    """
    reported = set(places(facts, (deserved_above_capability.RULE,)))
    for name, total, has, owners in queues.excesses(facts.cluster, queues.DESERVED):
        guaranteed = sum(queue.fields.guarantee.resource.get(name, 0) for queue in owners)
        above = sum(
            queue.fields.deserved[name] - queue.fields.capability[name]
            for queue in owners
            if queue.at.to("spec", "deserved", name) in reported
        )
        if guaranteed <= has < total - above:
            yield Hit(
                RULE,
                f"the queues below root deserve {amount_of(name, total, has)} together, but the "
                f"nodes have {readable(name, has, total)}, so some queues can use all {name} without exceeding deserved. Other queues then cannot reclaim {name}; lower deserved",
                owners[-1].at.to("spec", "deserved", name),
                (
                    *(queue.at.to("spec", "deserved", name) for queue in owners[:-1][:5]),
                    *(node.at for node in list(facts.cluster.nodes)[:3]),
                ),
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
