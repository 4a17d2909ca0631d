"""Topology-aware scheduling: in which domains (blocks, racks, hosts) the pods of a flavor run.

Source: pkg/cache/scheduler/{tas_flavor_snapshot,tas_topology_tree}.go of Kueue 0.19.2, with its feature
gates at their defaults. Leaders of pod-set groups, slices of more than one level, and the replacement of
failed nodes are not modelled.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from policygen.core.tolerations import tolerates
from policygen.kubernetes.core import TaintView, TolerationView
from policygen.kubernetes.node_filters import HARD

HOSTNAME = "kubernetes.io/hostname"
_MANY = 2**31 - 1
Leaf = str | tuple[str, ...]
"""A domain of the lowest level: the name of a host, or the values of all levels."""


@dataclass(frozen=True, slots=True)
class TopologyRequest:
    """What a pod set asks of its topology."""

    level: str = ""
    """Empty: the highest level with slices, else the lowest."""
    required: bool = False
    unconstrained: bool = False
    slice_level: str = ""
    slice_size: int = 1


IMPLIED = TopologyRequest(unconstrained=True)
"""Of pod sets without a request in a ClusterQueue that has only flavors with a topology."""


@dataclass(frozen=True, slots=True)
class PlacementRequest:
    """Pods of one template for which a flavor's topology must have room."""

    name: str
    """Of the pod set."""
    flavor: str
    request: TopologyRequest
    count: int
    per_pod: Mapping[str, int]
    shape: Any
    """What selects nodes: selector, terms and tolerations."""


@dataclass(frozen=True, slots=True)
class TopologyPlacement:
    """The domains of the pods of one template."""

    flavor: str
    pods: Mapping[Leaf, int]
    per_pod: Mapping[str, int]

    def usage(self) -> Iterable[tuple[Leaf, Mapping[str, int]]]:
        """What it uses in each domain; each pod also counts as one of `pods`."""
        for leaf, count in self.pods.items():
            found = {name: amount * count for name, amount in self.per_pod.items()}
            found["pods"] = found.get("pods", 0) + count
            yield leaf, found


@dataclass(frozen=True, slots=True)
class TopologyNode:
    """A node that a flavor selects."""

    labels: Mapping[str, str]
    taints: tuple[TaintView, ...]
    free: Mapping[str, int]
    """What pods that are not of admitted workloads leave."""
    name: str = ""


@dataclass(slots=True, eq=False)
class _Domain:
    values: tuple[str, ...]
    children: list["_Domain"] = field(default_factory=list)
    node: TopologyNode | None = None
    free: Counter[str] = field(default_factory=Counter)
    pods: int = 0
    slices: int = 0


class FlavorTopology:
    """The domains of one flavor. `usage` is that of admitted workloads, by domain of the lowest level."""

    def __init__(
        self,
        name: str,
        levels: Sequence[str],
        nodes: Iterable[TopologyNode],
        tolerations: tuple[TolerationView, ...],
        usage: dict[Leaf, Counter[str]],
    ) -> None:
        self.name = name
        """Of the Topology."""
        self.levels = tuple(levels)
        self.by_host = self.levels[-1:] == (HOSTNAME,)
        self.usage = usage
        self._tolerations = tolerations
        self._domains: list[dict[tuple[str, ...], _Domain]] = [{} for _ in self.levels]
        self._above: dict[Leaf, str] = {}
        self._of_node: dict[str, _Domain] = {}
        """The domain of the lowest level, by the name of a node in it."""
        for node in nodes:
            self._add(node)

    def _add(self, node: TopologyNode) -> None:
        values = tuple(node.labels.get(it, "") for it in self.levels)
        self._above[self.leaf(values)] = "/".join(values[:-1] if self.by_host else values)
        child: _Domain | None = None
        for level in range(len(values) - 1, -1, -1):
            known = values[: level + 1] in self._domains[level]
            domain = self._domains[level].setdefault(
                values[: level + 1], _Domain(values[: level + 1])
            )
            if child is None:
                domain.free.update(node.free)
                domain.node = node
                self._of_node[node.name] = domain
            else:
                domain.children.append(child)
            if known:
                return
            child = domain

    def has_levels(self, request: TopologyRequest) -> bool:
        """Whether it has all levels of a request."""
        return all(not it or it in self.levels for it in (request.level, request.slice_level))

    def leaf(self, values: tuple[str, ...]) -> Leaf:
        """The key of a domain of the lowest level."""
        return values[-1] if self.by_host else values

    def leaf_of(self, node: str) -> Leaf | None:
        """The key of the lowest domain of a node; None: the flavor does not select the node."""
        domain = self._of_node.get(node)
        return None if domain is None else self.leaf(domain.values)

    def selector(self, leaf: Leaf) -> Mapping[str, str]:
        """The labels with which Kueue selects the nodes of a domain of the lowest level."""
        if isinstance(leaf, str):
            return {HOSTNAME: leaf}
        return dict(zip(self.levels, leaf, strict=True))

    def above(self, leaf: Leaf) -> str:
        """The domain of the lowest level that is not a node: its values from the top; empty: none is."""
        return self._above.get(leaf, "")

    def hold(self, node: str, amounts: Iterable[tuple[str, int]], sign: int) -> bool:
        """A pod that Kueue did not place runs on a node, or with the sign -1 ends; false for other nodes."""
        domain = self._of_node.get(node)
        if domain is None:
            return False
        for name, amount in amounts:
            domain.free[name] -= sign * amount
        return True

    def use(self, placement: TopologyPlacement, sign: int = 1) -> None:
        """Use what a placement uses, or with the sign -1 free it."""
        for leaf, amounts in placement.usage():
            found = self.usage.setdefault(leaf, Counter())
            for name, amount in amounts.items():
                found[name] += sign * amount

    def fits(self, placement: TopologyPlacement) -> bool:
        """Whether each domain of a placement has room for its pods."""
        free = {self.leaf(it.values): it.free for it in self._domains[-1].values()}
        return all(
            leaf in free
            and _count(placement.per_pod, free[leaf], [self.usage.get(leaf, {})])[0] >= count
            for leaf, count in placement.pods.items()
        )

    def place(
        self, request: PlacementRequest, assumed: Mapping[Leaf, Mapping[str, int]], *, empty: bool
    ) -> tuple[TopologyPlacement | None, str]:
        """The domains of the pods, or why there are none, in Kueue's words.

        `assumed` is what other pods of the workload use. With `empty`, no workload uses anything.
        """
        search = _PlacementSearch(self, request)
        if not search.levels_are_ordered:
            levels = request.request.slice_level, request.request.level
            return None, "podset slice topology {} is above the podset topology {}".format(*levels)
        search.fill(assumed, self._tolerations, empty=empty)
        return search.run()

    def domains(self, level: int) -> list[_Domain]:
        """All domains of a level."""
        return list(self._domains[level].values())


def _count(
    per_pod: Mapping[str, int], free: Mapping[str, int], used: Iterable[Mapping[str, int]]
) -> tuple[int, str]:
    """How many pods fit, and the resource of which there is the least."""
    used = list(used)
    counts = (
        (_times(free.get(name, 0) - sum(it.get(name, 0) for it in used), amount), name)
        for name, amount in per_pod.items()
    )
    return min(counts, default=(0, ""))


def _times(free: int, amount: int) -> int:
    return max(0, free // amount) if amount else _MANY


class _PlacementSearch:
    """One search for domains."""

    def __init__(self, topology: FlavorTopology, request: PlacementRequest) -> None:
        self._topology = topology
        self._request = request
        wanted, levels = request.request, topology.levels
        self._unconstrained = wanted.unconstrained
        default = 0 if wanted.slice_level and not wanted.level else len(levels) - 1
        self._level = levels.index(wanted.level) if wanted.level else default
        self._slice_level = (
            levels.index(wanted.slice_level) if wanted.slice_level else len(levels) - 1
        )
        self._size = wanted.slice_size
        self._per_pod = {**request.per_pod, "pods": request.per_pod.get("pods", 0) + 1}
        self._excluded: Counter[str] = Counter()
        self._total = 0

    @property
    def levels_are_ordered(self) -> bool:
        """Whether slices are not above what they are slices of."""
        return self._level <= self._slice_level

    def fill(
        self,
        assumed: Mapping[Leaf, Mapping[str, int]],
        tolerations: tuple[TolerationView, ...],
        *,
        empty: bool,
    ) -> None:
        """Count how many pods and slices fit into each domain."""
        topology = self._topology
        for domain in topology.domains(len(topology.levels) - 1):
            self._total += 1
            domain.pods = domain.slices = 0
            if self._excludes(domain, tolerations):
                continue
            leaf = topology.leaf(domain.values)
            used: list[Mapping[str, int]] = [assumed.get(leaf, {})]
            if not empty:
                used.append(topology.usage.get(leaf, {}))
            domain.pods, least = _count(self._per_pod, domain.free, used)
            if not domain.pods:
                self._excluded[f'resource "{least}"'] += 1
        for level in range(len(topology.levels) - 1, -1, -1):
            for domain in topology.domains(level):
                if domain.children:
                    domain.pods = sum(it.pods for it in domain.children)
                    domain.slices = sum(it.slices for it in domain.children)
                if level == self._slice_level:
                    domain.slices = domain.pods // self._size

    def _excludes(self, domain: _Domain, tolerations: tuple[TolerationView, ...]) -> bool:
        if not self._topology.by_host or domain.node is None:
            return False
        labels, shape = domain.node.labels, self._request.shape
        allowed = (*shape.tolerations, *tolerations)
        for taint in domain.node.taints:
            if taint.effect in HARD and not any(tolerates(it, taint) for it in allowed):
                value = f"={taint.value}" if taint.value else ""
                self._excluded[f'taint "{taint.key}{value}:{taint.effect}"'] += 1
                return True
        if any(labels.get(key) != value for key, value in shape.selector):
            self._excluded["nodeSelector"] += 1
            return True
        terms = [it for it in shape.terms if it]
        if shape.terms and not any(all(one.holds(labels) for one in it) for it in terms):
            self._excluded["affinity"] += 1
            return True
        return False

    def run(self) -> tuple[TopologyPlacement | None, str]:
        """Choose domains of the requested level, or above, and distribute the pods below them."""
        level, chosen, reason = self._fitting(self._level)
        if reason:
            return None, reason
        last = len(self._topology.levels) - 1
        count, size = self._request.count, self._size
        chosen = self._least(chosen, count, size, slices=True)
        while level < min(last, self._slice_level):
            below = self._sorted([it for each in chosen for it in each.children])
            chosen = self._least(below, count, size, slices=True)
            level += 1
        while level < last:
            chosen = [
                it
                for each in chosen
                for it in self._least(self._sorted(each.children), each.pods, 1, slices=False)
            ]
            level += 1
        pods = {
            self._topology.leaf(it.values): it.pods
            for it in sorted(chosen, key=lambda it: it.values)
            if it.pods
        }
        return TopologyPlacement(self._request.flavor, pods, self._request.per_pod), ""

    def _sorted(self, domains: Iterable[_Domain]) -> list[_Domain]:
        """The most slices first, or the fewest without a constraint."""
        sign = 1 if self._unconstrained else -1
        return sorted(domains, key=lambda it: (sign * it.slices, it.pods, it.values))

    def _fitting(self, level: int) -> tuple[int, list[_Domain], str]:
        """The domains of the level, or of one above, that hold all slices; or why there are none."""
        needed = self._request.count // self._size
        found = self._topology.domains(level)
        if not found:
            return 0, [], f"no topology domains at level: {self._topology.levels[level]}"
        domains = self._sorted(found)
        enough = [it for it in domains if it.slices >= needed]
        if enough:
            one = enough[0] if self._unconstrained else _best_slices(domains, needed)
            return level, [one], ""
        if self._request.request.required:
            return 0, [], self._not_fit(domains[0].slices, needed)
        if level > 0 and not self._unconstrained:
            return self._fitting(level - 1)
        return self._several(level, domains, needed)

    def _several(
        self, level: int, domains: list[_Domain], needed: int
    ) -> tuple[int, list[_Domain], str]:
        chosen, remaining = [], needed
        for i, it in enumerate(domains):
            if remaining <= 0:
                break
            one = it
            if not self._unconstrained and it.slices >= remaining:
                one = _best_slices(domains[i:], remaining)
            chosen.append(one)
            remaining -= one.slices
        if remaining > 0:
            return 0, [], self._not_fit(needed - remaining, needed)
        return level, chosen, ""

    def _least(
        self, domains: list[_Domain], count: int, size: int, *, slices: bool
    ) -> list[_Domain]:
        """As few of these domains as hold the pods; their counts become what they get."""
        chosen = []
        remaining = count // size if slices else count
        for i, it in enumerate(domains):
            one = it
            have = it.slices if slices else it.pods
            if not self._unconstrained and have >= remaining:
                one = (_best_slices if slices else _best_pods)(domains[i:], remaining)
                have = one.slices if slices else one.pods
            chosen.append(one)
            if have >= remaining:
                one.pods = remaining * size
                one.slices = remaining if slices else one.slices
                return chosen
            one.pods = have * size
            remaining -= have
        return []

    def _not_fit(self, fit: int, needed: int) -> str:
        unit = "pod" if self._size == 1 else "slice"
        name = self._topology.name
        words = f'topology "{name}" allows to fit only {fit} out of {needed} {unit}(s)'
        if not fit:
            words = f'topology "{name}" doesn\'t allow to fit any of {needed} {unit}(s)'
        if self._excluded:
            parts = sorted(f"{what}: {number}" for what, number in self._excluded.items())
            words += f". Total nodes: {self._total}; excluded: {', '.join(parts)}"
        return words


def _best_slices(domains: list[_Domain], needed: int) -> _Domain:
    """The first of the domains with the fewest slices that are enough."""
    return min((it for it in domains if it.slices >= needed), key=lambda it: it.slices)


def _best_pods(domains: list[_Domain], needed: int) -> _Domain:
    return min((it for it in domains if it.pods >= needed), key=lambda it: it.pods)
