"""A limit of GPUs is above what all nodes have, so it limits nothing."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from policygen.core.finding import At
from policygen.core.quoting import quoted
from policygen.kubernetes.accelerators import is_one
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """Compares with all listed nodes. Without them, or with NodePools of Karpenter, nothing is known.

    Source: docs of Kubernetes on ResourceQuotas; pkg/scheduler/plugins/capacity/capacity.go of Volcano 1.14.1.
    """
    if facts.cluster.node_pools.any:
        return
    have = facts.cluster.derive(queues.inventory)
    for owner, at, amounts in _limits(facts):
        for key, amount in amounts.items():
            resource = key.removeprefix("requests.")
            if is_one(resource) and 0 < (has := have.get(resource, Fraction(0))) < amount:
                yield Hit(
                    RULE,
                    f"{owner} allows {amount} {resource}, but all nodes together have {has}, so this limit has no "
                    f"effect; lower {quoted(key)}, or add nodes",
                    at / key,
                )


def _limits(facts: Facts) -> Iterator[tuple[str, At, Mapping[str, Fraction]]]:
    """The limits of ResourceQuotas and of Queues of Volcano, with their owners and places."""
    for quota in facts.cluster.resource_quotas:
        yield str(quota), quota.at.to("spec", "hard"), quota.fields.hard
    for queue in facts.cluster.queues:
        yield str(queue), queue.at.to("spec", "capability"), queue.fields.capability


RULE = ObjectRule(
    "limit-above-nodes",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Lower the limit to what the nodes have, or add nodes.",
    judges=("Queue", "ResourceQuota"),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=("NodePool",),
)
