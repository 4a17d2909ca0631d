"""Nodes share or divide their GPUs differently than their pool in the spec."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from policygen.core.quoting import counted, listed
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.listed_nodes import listed_nodes
from policygen.kubernetes.node_groups import Node
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

if TYPE_CHECKING:
    from policygen.plan.pool import PoolFacts

_Units = Mapping[str, int | Fraction]
_Form = tuple[tuple[tuple[str, int | Fraction], ...], str]
"""What a node advertises, and the value of the label that selects its configuration."""


def check(facts: Facts) -> Hits:
    """Quotas count replicas of cards or MIG instances. Other units are never used, or are missing.

    Nodes that match several pools are skipped.
    Source: nvidia.com/device-plugin.config of NVIDIA/k8s-device-plugin 0.20 (cmd/config-manager), and
    nvidia.com/mig.config of NVIDIA/mig-parted 0.15 (cmd/nvidia-mig-manager).
    """
    pools = facts.plan.pools if facts.plan else ()
    if not any(it.pool.gpu.sharing != "none" for it in pools):
        return
    nodes: defaultdict[str, list[Node]] = defaultdict(list)
    for node in listed_nodes(facts.cluster):
        mine = [it for it in pools if set(it.pool.node_selector) <= set(node.labels.items())]
        if len(mine) == 1 and node.allocatable:  # a manifest can omit the status
            nodes[mine[0].name].append(node)
    for pool in pools:
        wanted = [*_offers(pool)]
        if wanted and nodes[pool.name]:
            yield from _differing(pool, wanted, nodes[pool.name])


def _differing(pool: "PoolFacts", wanted: Sequence[_Units], nodes: Sequence[Node]) -> Iterator[Hit]:
    """One finding for all nodes that advertise the same other units."""
    label, value = _label(pool)
    alike: defaultdict[_Form, list[Node]] = defaultdict(list)
    for node in nodes:
        units = {name: it for name, it in node.allocatable.items() if is_one(name) and it}
        if units not in wanted:
            alike[tuple(sorted(units.items())), node.labels.get(label, "")].append(node)
    for (advertised, config), members in alike.items():
        first, *others = members
        who = (
            f"Node {first.name}"
            if not others
            else f"{counted(len(members), 'node')}, such as {first.name},"
        )
        verb = "advertises" if not others else "advertise"
        remedy = f"label {'it' if not others else 'them'} {label}={value}"
        if config == value:
            remedy = f"check why the configuration of {label}={value} has no effect there"
        yield Hit(
            RULE,
            f'{who} of pool "{pool.name}" {verb} {_text(dict(advertised))}, but the spec counts '
            f"{_text(wanted[0])} on a node; {remedy}, or correct gpu in the spec",
            first.at,
            related=tuple(it.at for it in others if it.at),
        )


def _offers(pool: "PoolFacts") -> Iterator[_Units]:
    """The units that a node of a pool can have, the most frequent first; none if they are not known."""
    from policygen.plan.nvidia.mig_manager import layouts  # noqa: PLC0415 - only with a spec
    from policygen.spec.pools import SHARED_PER_GPU  # noqa: PLC0415 - likewise

    gpu = pool.pool.gpu
    if gpu.sharing in SHARED_PER_GPU:
        units = pool.available[pool.resources[0]]
        most = pool.per_node * gpu.replicas
        yield from ({pool.resources[0]: it} for it in (most, units % most) if it)
    for layout in layouts(pool):
        yield {name: it for name, it in layout.offers if it}


def _label(pool: "PoolFacts") -> tuple[str, str]:
    from policygen.plan.nvidia import device_plugin, mig_manager  # noqa: PLC0415 - only with a spec

    found = mig_manager.layouts(pool)
    if found:
        return mig_manager.LABEL, found[0].name
    return device_plugin.LABEL, device_plugin.label(pool)


def _text(units: _Units) -> str:
    return listed([f"{it} {name}" for name, it in units.items()], "and") if units else "no GPU"


RULE = ObjectRule(
    "gpu-sharing-differs",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Label the nodes with the configuration that policygen renders for their pool.",
    judges=("Node",),
    check=check,
    needs=frozenset({Need.NODES, Need.SPEC}),
)
