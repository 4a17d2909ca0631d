"""The scores of nodes: binpack, nodeorder and resource-strategy-fit.

Source: pkg/scheduler/plugins/{binpack,nodeorder,resource-strategy-fit} and util/scheduler_helper.go of Volcano
1.14.1.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from policygen.kubernetes.untyped import integer, mapping
from policygen.simulate.placement.own_scores import balance, fit
from policygen.simulate.placement.profile import Strategy
from policygen.simulate.volcano.amounts import CPU, LEAST, MEMORY
from policygen.simulate.volcano.job import VolcanoTask
from policygen.simulate.volcano.kubernetes_view import KubernetesView
from policygen.simulate.volcano.settings import SchedulerSettings, TierPlugin
from policygen.simulate.volcano.state import VolcanoNodes

_MOST = 100
_BALANCED = ("cpu", "memory", "nvidia.com/gpu")

Part = Callable[[VolcanoTask, Sequence[int]], list[float]]


class Fill(Struct, frozen=True):
    """How a resource counts."""

    weight: int
    most: bool = True
    """Whether fuller nodes are better."""


class NodeScores:
    """The sum of the scores of all plugins."""

    def __init__(
        self, nodes: VolcanoNodes, settings: SchedulerSettings, view: KubernetesView
    ) -> None:
        self._nodes = nodes
        self._view = view
        self._parts: list[Part] = []
        self._common = False
        """Whether scores are normalized over nodes."""
        for plugin in (it for tier in settings.tiers for it in tier):
            if not plugin.on("enableNodeOrder"):
                continue
            if plugin.name == "nodeorder":
                self._common = True
                self._parts.append(_NodeOrder(nodes, plugin).of)
            elif plugin.name == "binpack" and plugin.number("binpack.weight", 1):
                self._parts.append(
                    _Filling(nodes, plugin.number("binpack.weight", 1), _bins(plugin)).of
                )
            elif plugin.name == "resource-strategy-fit":
                weight = plugin.number("resourceStrategyFitWeight", 10)
                weight = 10 if weight < 0 else weight
                self._parts.append(_Filling(nodes, weight, _strategies(plugin)).of)

    def of(self, task: VolcanoTask, nodes: Sequence[int]) -> list[float]:
        """The score of each node."""
        shape, versions = task.shape, self._nodes.versions
        equal = shape.requests, shape.scored, shape.preferences, tuple(task.requests.items())
        known, seen = self._view.remembered(equal)
        old = [it for it in nodes if seen[it] != versions[it]]
        if old:
            for node, score in zip(old, self._own(task, old), strict=True):
                known[node], seen[node] = score, versions[node]
        total = [known[it] for it in nodes]
        if not self._common:
            return total
        for weight, common in self._view.parts(task.shape).values():
            keys = [common.key(it) for it in nodes]
            sizes: dict[object, int] = {}
            for key in keys:
                sizes[key] = sizes.get(key, 0) + 1
            by_key = dict(zip(sizes, common.scores(list(sizes), list(sizes.values())), strict=True))
            total = [one + weight * by_key[key] for one, key in zip(total, keys, strict=True)]
        return total

    def _own(self, task: VolcanoTask, nodes: Sequence[int]) -> list[float]:
        """The scores that look at one node."""
        total = [0.0] * len(nodes)
        for part in self._parts:
            total = [one + more for one, more in zip(total, part(task, nodes), strict=True)]
        return total


class _NodeOrder:
    """The scores of nodeorder that look at one node."""

    def __init__(self, nodes: VolcanoNodes, plugin: TierPlugin) -> None:
        self._table = nodes.table
        self._least = plugin.number("leastrequested.weight", 1)
        self._most = plugin.number("mostrequested.weight", 0)
        self._balanced = plugin.number("balancedresource.weight", 1)
        self._affinity = plugin.number("nodeaffinity.weight", 2)

    def of(self, task: VolcanoTask, nodes: Sequence[int]) -> list[float]:
        """The score of each node."""
        total = [0.0] * len(nodes)
        for weight, most in ((self._least, False), (self._most, True)):
            if weight:
                scores = fit(self._table, task.shape, Strategy(most=most)).of(nodes)
                total = [one + weight * it for one, it in zip(total, scores, strict=True)]
        if self._balanced:
            total = [
                one + self._balanced * self._balance(task, it)
                for one, it in zip(total, nodes, strict=True)
            ]
        if self._affinity and task.shape.preferences:
            total = [
                one + self._affinity * self._preferred(task, it)
                for one, it in zip(total, nodes, strict=True)
            ]
        return total

    def _balance(self, task: VolcanoTask, node: int) -> int:
        """The balance with the pod, as before Kubernetes 1.35."""
        shape, table = task.shape, self._table
        if not any(shape.amount(it) for it in _BALANCED):
            return 0
        shares = []
        for name in _BALANCED:
            amount = shape.amount(name)
            have = table.allocatable(name)[node]
            if have and (amount or name in (CPU, MEMORY)):
                shares.append(min((have - table.free(name)[node] + amount) / have, 1.0))
        return balance(shares)

    def _preferred(self, task: VolcanoTask, node: int) -> int:
        """The weights of the preferred terms that match, not normalized."""
        found = self._table.all[node]
        labels = {**found.labels, "metadata.name": found.name}
        return sum(
            it.weight
            for it in task.shape.preferences
            if all(one.holds(labels) for one in it.requirements)
        )


class _Filling:
    """How full a node is with the task, or how empty: a weighted mean of resources that the task requests."""

    def __init__(
        self, nodes: VolcanoNodes, weight: int, find: Callable[[str], Fill | None]
    ) -> None:
        self._nodes = nodes
        self._weight = weight
        self._find = find

    def of(self, task: VolcanoTask, nodes: Sequence[int]) -> list[float]:
        """The score of each node."""
        resources = []
        for name, amount in task.requests.items():
            found = self._find(name) if amount >= LEAST else None
            if found is not None:
                columns = self._nodes.allocatable[name], self._nodes.used[name]
                resources.append((amount, found, *columns))
        weights = sum(it.weight for _, it, _, _ in resources)
        return [self._one(node, resources, weights) for node in nodes]

    def _one(
        self,
        node: int,
        resources: Sequence[tuple[float, Fill, list[float], list[float]]],
        weights: int,
    ) -> float:
        score = 0.0
        for amount, how, allocatable, used in resources:
            have = allocatable[node]
            if not have or not how.weight:
                continue
            final = amount + used[node]
            if final > have:
                return 0.0
            score += (final if how.most else have - final) * how.weight / have
        if weights > 0:
            score /= weights
        return score * (_MOST * self._weight)


def _bins(plugin: TierPlugin) -> Callable[[str], Fill | None]:
    """The weights of binpack."""
    listed = plugin.arguments.get("binpack.resources")
    found = {}
    for it in (listed if isinstance(listed, str) else "").split(","):
        if name := it.strip():
            found[name] = _weight(plugin, f"binpack.resources.{name}")
    found[CPU] = _weight(plugin, "binpack.cpu")
    found[MEMORY] = _weight(plugin, "binpack.memory")
    fills = {name: Fill(it) for name, it in found.items()}
    return fills.get


def _weight(plugin: TierPlugin, argument: str) -> int:
    found = plugin.number(argument, 1)
    return 1 if found < 0 else found


def _strategies(plugin: TierPlugin) -> Callable[[str], Fill | None]:
    """The weights of resource-strategy-fit: by name, or by the longest prefix before `*`."""
    fills: dict[str, Fill] = {}
    for name, it in mapping(plugin.arguments, "resources").items():
        if "*" not in name or (name.count("*") == 1 and name.endswith("*") and name != "*"):
            fills[name] = _fill(it)
    if not mapping(plugin.arguments, "resources"):
        fills = {CPU: Fill(1, most=False), MEMORY: Fill(1, most=False)}
    prefixes = sorted((it[:-1] for it in fills if it.endswith("*")), key=len, reverse=True)

    def find(name: str) -> Fill | None:
        if name in fills:
            return fills[name]
        prefix = next((it for it in prefixes if name.startswith(it)), None)
        return None if prefix is None else fills[f"{prefix}*"]

    return find


def _fill(written: Any) -> Fill:
    weight = integer(mapping(written).get("weight")) or 0
    return Fill(weight if weight > 0 else 1, most=mapping(written).get("type") == "MostAllocated")
