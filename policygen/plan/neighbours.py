"""Pools that Volcano cannot keep separate."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from policygen.core.finding import Hit
from policygen.core.names import NODE_GROUP
from policygen.plan.pool import PoolFacts
from policygen.plan.rules import VOLCANO_PACK_AND_SPREAD, VOLCANO_RESOURCE_SHARED


def check(pools: Sequence[PoolFacts]) -> Iterator[Hit]:
    """Volcano has one scheduler configuration for all pools, and its queues count resources by name."""
    volcano = [facts for facts in pools if facts.scheduler == "volcano"]
    owners: defaultdict[str, dict[str | None, PoolFacts]] = defaultdict(dict)
    for facts in volcano:
        at = (facts.pool.at / "spec" / "schedulingPolicy").on_key()
        first = volcano[0]
        if (facts.policy.bin_pack, facts.policy.spread) != (
            first.policy.bin_pack,
            first.policy.spread,
        ):
            yield Hit(
                VOLCANO_PACK_AND_SPREAD,
                f'pool "{facts.name}" and pool "{first.name}" differ in binPack or spread, but '
                "Volcano has one setting for all its pools; write the same for both",
                at,
            )
        for resource in facts.resources:
            # Only queues of different node groups are separate; one without a group uses every node.
            group = facts.node_group or None
            others = owners[resource]
            near = others.get(None) or others.get(group)
            other = near if group else next(iter(others.values()), None)
            others.setdefault(group, facts)
            if other:
                yield Hit(
                    VOLCANO_RESOURCE_SHARED,
                    f'pool "{facts.name}" and pool "{other.name}" both have {resource}, and Volcano\'s '
                    f"queues cannot separate their nodes; write {NODE_GROUP} in both nodeSelectors, "
                    "with different values",
                    (facts.pool.at / "spec" / "nodeSelector").on_key(),
                )
