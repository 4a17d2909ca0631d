"""Pools beside each other: what Volcano could not keep apart."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from policygen.core.finding import Hit
from policygen.core.names import NODE_GROUP
from policygen.plan.pool import PoolFacts
from policygen.plan.rules import VOLCANO_PACK_AND_SPREAD, VOLCANO_RESOURCE_SHARED


def check(pools: Sequence[PoolFacts]) -> Iterator[Hit]:
    """Volcano pools share one scheduler configuration, and quotas know a resource by name only."""
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
                f'Volcano places all its pools alike, and pool "{first.name}" '
                f"{'packs' if first.policy.bin_pack else 'does not pack'}; "
                "give both the same binPack and spread",
                at,
            )
        for resource in facts.resources:
            # Apart are queues of different node groups only: one without any takes every node.
            group = facts.node_group or None
            others = owners[resource]
            near = others.get(None) or others.get(group)
            other = near if group else next(iter(others.values()), None)
            others.setdefault(group, facts)
            if other:
                yield Hit(
                    VOLCANO_RESOURCE_SHARED,
                    f'Volcano pool "{other.name}" has {resource} too, and a queue cannot tell '
                    f"their nodes apart; put {NODE_GROUP} into both nodeSelectors, with "
                    "different values",
                    (facts.pool.at / "spec" / "nodeSelector").on_key(),
                )
