"""The Queues together deserve more than the nodes have."""

from collections.abc import Container

from policygen.core.amounts import sums
from policygen.core.finding import At
from policygen.core.quoting import listed
from policygen.lint import replaced_queues
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.rules import deserved_above_capability


def check(facts: Facts) -> Hits:
    """Volcano does not compare the queues below root with the nodes.

    guarantees-exceed-cluster reports guarantees, and deserved-above-capability an amount that is above the
    capability of its queue, which does not count here. All resources are one hit: a missing node lacks all.

    Source: pkg/scheduler/plugins/capacity/capacity.go; queues/validate/validate_queue.go.
    """
    reported = set(places(facts, (deserved_above_capability.RULE,)))
    found = [
        it for it in queues.excesses(facts.cluster, queues.DESERVED) if _is_above(it, reported)
    ]
    if not found:
        return
    owners = {queue.at: queue.object for it in found for queue in it.queues}
    names = listed([it.resource for it in found], "and")
    total, has = sums((it.resource, it.total, it.have) for it in found)
    shares = [queue.at.to("spec", "deserved", it.resource) for it in found for queue in it.queues]
    last = len(found[0].queues) - 1
    yield Hit(
        RULE,
        f"the queues below root deserve {total} together, but the "
        f"nodes have {has}, so some queues can use all {names} without exceeding deserved. Other queues then cannot "
        f"reclaim {'it' if len(found) == 1 else 'them'}; {replaced_queues.advice(owners.values())}lower deserved",
        shares[last],
        (
            *(shares[:last] + shares[last + 1 :])[:5],
            *(node.at for node in list(facts.cluster.nodes)[:3]),
        ),
    )


def _is_above(it: queues.SharedExcess, reported: Container[At]) -> bool:
    """Whether the guarantees do not exceed the nodes too, and the sum does without what is reported."""
    guaranteed = sum(queue.fields.guarantee.resource.get(it.resource, 0) for queue in it.queues)
    wrong = sum(
        queue.fields.deserved[it.resource]
        for queue in it.queues
        if queue.at.to("spec", "deserved", it.resource) in reported
    )
    return guaranteed <= it.have < it.total - wrong


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
