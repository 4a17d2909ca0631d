"""Refuses different configurations of nodes with the same name, of which one would replace the other."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from policygen.core.finding import Hit
from policygen.plan.extras import DEVICE_PLUGIN, MIG_MANAGER
from policygen.plan.nvidia import device_plugin, mig_manager
from policygen.plan.pool import PoolFacts
from policygen.spec.rules import NAME_COLLISION
from policygen.spec.types import Platform


def reports(
    platform: Platform, pools: Sequence[PoolFacts], extras: Container[str]
) -> Iterator[Hit]:
    """Refusals. Pools whose nodes need the same configuration can have the same name for it."""
    if DEVICE_PLUGIN in extras:
        files = device_plugin.configurations(platform, pools)
        yield from _hits(
            device_plugin.LABEL,
            ((it.key, (it.mig_strategy, it.sharing)) for it in files),
            {device_plugin.label(it): it for it in pools},
        )
    if MIG_MANAGER in extras:
        layouts = [(it, facts) for facts in pools for it in mig_manager.layouts(facts)]
        yield from _hits(
            mig_manager.LABEL,
            ((mig_manager.DISABLED, ()), *((it.name, it.cards) for it, _ in layouts)),
            {it.name: facts for it, facts in layouts},
        )


def _hits(
    label: str, named: Iterable[tuple[str, object]], pools: Mapping[str, PoolFacts]
) -> Iterator[Hit]:
    """`named`: the name and the content of each configuration. `pools`: the last pool that uses a name."""
    contents: dict[str, object] = {}
    for name, content in named:
        if contents.setdefault(name, content) != content:
            yield Hit(
                NAME_COLLISION,
                f'two different configurations of nodes would both have the name "{name}"; rename the '
                f"pool, or write another value of {label} in its nodeSelector",
                pools[name].pool.at.to("metadata", "name"),
            )
