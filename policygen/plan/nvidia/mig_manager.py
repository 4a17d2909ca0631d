"""Decides the configuration of NVIDIA's MIG manager: the instances of each card of each pool."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from policygen.hardware import catalog, mig
from policygen.hardware.mig import Counts
from policygen.plan.kind import Kind, Meta, Release
from policygen.plan.node_instances import node_instances
from policygen.plan.pool import PoolFacts
from policygen.spec import derived_names
from policygen.spec.types import Platform

LABEL = "nvidia.com/mig.config"
"""The node label that names a configuration (`cmd/nvidia-mig-manager` of mig-parted)."""
CONFIG_KEY = "config.yaml"
DISABLED = "all-disabled"
"""The configuration of nodes without MIG; the GPU operator gives it to nodes without the label."""

Instances = tuple[tuple[str, int], ...]
"""The number of instances of each MIG profile on one card, largest first."""


class MigCards(Struct, frozen=True):
    """Cards of a node that have the same instances."""

    devices: tuple[int, ...]
    """The indexes of the cards; empty: all."""
    instances: Instances


class MigLayout(Struct, frozen=True):
    """The instances of some nodes of a pool."""

    name: str
    """The value of LABEL."""
    pool: str
    nodes: int
    """The number of nodes that need it."""
    cards: tuple[MigCards, ...]
    offers: tuple[tuple[str, int], ...]
    """The instances of one node, by resource."""


class MigPartedConfig(Struct, frozen=True):
    """The file of mig-parted."""

    meta: Meta
    layouts: tuple[MigLayout, ...]
    label: str = LABEL
    """The key of the node label whose value is the name of a layout."""

    @property
    def configs(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The configurations by name, in the form of the file."""
        disabled = [{"devices": "all", "mig-enabled": False}]
        return {
            DISABLED: disabled,
            **{it.name: [_entry(cards) for cards in it.cards] for it in self.layouts},
        }


def _entry(cards: MigCards) -> Mapping[str, Any]:
    return {
        "devices": list(cards.devices) or "all",
        "mig-enabled": True,
        "mig-devices": dict(cards.instances),
    }


CONFIGURATION = Kind(
    "mig-parted config", "kubernetes", (Release((1, 33), "", "nvidia/mig_parted.yaml.j2"),)
)


def configuration(platform: Platform, pools: Sequence[PoolFacts]) -> MigPartedConfig | None:
    """The layouts of all MIG pools of known products; None without such pools.

    Source: api/spec/v1 of NVIDIA/mig-parted 0.15.
    """
    found = tuple(it for facts in pools for it in layouts(facts))
    if not found:
        return None
    return MigPartedConfig(meta(platform), found)


def meta(platform: Platform) -> Meta:
    """The identity of the ConfigMap."""
    name = derived_names.component(platform, "mig-parted")
    return Meta(name, platform.name, platform.nvidia.namespace)


def layouts(facts: PoolFacts) -> tuple[MigLayout, ...]:
    """The different layouts of the nodes of a MIG pool, the most frequent first.

    The first has the name that the nodeSelector of the pool states, or the name of the pool; others have
    a number after it. Their instances times their nodes are
    those of the pool. Empty for another pool, and for a product whose MIG profiles are not known.
    """
    family = catalog.mig_family(facts.product) if facts.product else None
    if facts.pool.gpu.sharing != "mig" or family is None:
        return ()
    possible = mig.layouts(family, [it.name for it in facts.cut])
    nodes = node_instances(facts, facts.node_count)
    each = Counter(tuple(it[name] for name in facts.resources) for it in nodes)
    base = dict(facts.pool.node_selector).get(LABEL, facts.name)
    found = []
    for number, (needs, count) in enumerate(each.most_common(), start=1):
        found.append(
            MigLayout(
                name=base if number == 1 else f"{base}-{number}",
                pool=facts.name,
                nodes=count,
                cards=tuple(_grouped(facts, _cut(possible, needs))),
                offers=tuple(zip(facts.resources, needs, strict=True)),
            )
        )
    return tuple(found)


def _cut(possible: Sequence[Counts], needs: Counts) -> list[Counts]:
    """The instances of each used card of a node: layouts of the fewest cards, without what they have too much.

    A part of a possible layout is possible, too. mig-parted finds the slots of the instances.
    """
    chosen = mig.fewest_cards(possible, needs)
    held = [list(it) for it, n in zip(possible, chosen, strict=True) for _ in range(n)]
    for place, need in enumerate(needs):
        for _ in range(sum(it[place] for it in held) - need):
            max(held, key=lambda it: it[place])[place] -= 1
    return sorted((tuple(it) for it in held), reverse=True)


def _grouped(facts: PoolFacts, cut: Sequence[Counts]) -> Iterator[MigCards]:
    """The cards of a node by their instances. Cards that are not used have MIG on, but no instance."""
    cards = [*cut, *[(0,) * len(facts.cut)] * (facts.per_node - len(cut))]
    indexes: dict[Counts, list[int]] = {}
    for index, counts in enumerate(cards):
        indexes.setdefault(counts, []).append(index)
    for counts, devices in indexes.items():
        pairs = zip((it.name for it in facts.cut), counts, strict=True)
        instances = tuple((name, n) for name, n in reversed(list(pairs)) if n)
        yield MigCards(() if len(indexes) == 1 else tuple(devices), instances)
