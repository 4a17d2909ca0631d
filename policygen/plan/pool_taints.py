"""The taints that keep the pods of a team out of pools in which it has no share."""

from collections.abc import Iterable, Iterator, Mapping

from policygen.plan.decisions import Decisions
from policygen.plan.pool import PoolFacts
from policygen.spec.types import Taint


def pools_of(decided: Decisions, namespace: str) -> Iterator[PoolFacts]:
    """The pools in which the team of a namespace has a share."""
    for tree in decided.trees:
        if any(it.name == namespace for node in tree.leaves for it in node.team.namespaces):
            yield from tree.pools


def others(pools: Iterable[PoolFacts], own: Iterable[PoolFacts]) -> Mapping[str, Taint]:
    """The taints of pools that no own pool has, sorted by their texts as kubectl writes them."""
    known = {name for facts in own for name in _of(facts)}
    found = {name: it for facts in pools for name, it in _of(facts).items() if name not in known}
    return dict(sorted(found.items()))


def _of(facts: PoolFacts) -> Mapping[str, Taint]:
    """The taints of a pool that keep pods out."""
    return {
        f"{it.key}{f'={it.value}' if it.value else ''}:{it.effect}": it
        for it in facts.pool.taints
        if it.effect != "PreferNoSchedule"
    }
