"""Binds pods to nodes as kube-scheduler does.

It looks at all nodes, as with percentageOfNodesToScore 100.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from policygen.kubernetes.node_filters import (
    Cordoned,
    Demand,
    Differs,
    Miss,
    NoTerm,
    NotTolerated,
    OtherName,
    demand,
    misses,
)
from policygen.kubernetes.node_groups import Node, NodeGroup
from policygen.kubernetes.scheduler_reasons import reason
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.placement.common_scores import common_parts, spread_constraints
from policygen.simulate.placement.nodes import NodeTable
from policygen.simulate.placement.own_scores import FIT, KeptScores, OwnScores, Scorer
from policygen.simulate.placement.pod_filters import pod_filters
from policygen.simulate.placement.profile import Profile
from policygen.simulate.placement.ranking import Ranking
from policygen.simulate.placement.shape import OwnKey, PodShape

_AFFINITY = "NodeAffinity"
ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
_FILTER: Mapping[type[Miss], str] = {
    Cordoned: "NodeUnschedulable",
    OtherName: "NodeName",
    NotTolerated: "TaintToleration",
    Differs: _AFFINITY,
    NoTerm: _AFFINITY,
}
"""The filters that other pods do not change. Filters by what pods hold find the other reasons again."""
LASTING_FILTERS = frozenset(_FILTER.values())
ABSENT = "node(s) are not added yet"
"""Why a node takes no pod that an autoscaler can still add."""
_ANYWHERE = demand(PodSpec(), {})
_LOG = 1_000_000
"""The most changes that are kept before all rankings are updated."""
_RANKED = 4_000_000
"""The most nodes in all rankings together, at about 40 bytes each."""


@dataclass(frozen=True, slots=True)
class Binding:
    """Where a pod runs."""

    node: int
    ties: int
    """How many nodes have the same score; with more than one, kube-scheduler takes any of them."""


class Ties:
    """How one of several equal nodes is chosen: at random, as kube-scheduler does it, or the first by index."""

    def __init__(self, seed: int | None) -> None:
        self._random = None if seed is None else random.Random(seed)  # noqa: S311 - a simulation

    def choose(self, equal: Iterable[Sequence[int]], count: int) -> int:
        """One of `count` equal nodes."""
        if self._random is None:
            return min(min(it) for it in equal)
        index = int(self._random.random() * count)
        for it in equal:
            if index < len(it):
                return it[index]
            index -= len(it)
        raise AssertionError


class KubeScheduler:
    """kube-scheduler with its profiles, and nodes."""

    def __init__(
        self,
        nodes: Iterable[Node],
        profiles: Iterable[Profile] = (Profile(),),
        seed: int | None = 0,
    ) -> None:
        self.nodes = NodeTable(nodes)
        profiles = tuple(profiles)
        self.profiles: Mapping[str, Profile] = {it.name: it for it in profiles}
        self._ties = Ties(seed)
        self._kept_off = {it.name: frozenset(self._enforced(it)) for it in profiles}
        """The nodes that the required affinity of each profile refuses."""
        self._rankings: dict[object, Ranking] = {}
        """By key, in the order of their last use."""
        self._most = max(_RANKED // max(len(self.nodes.all), 1), 1)
        """How many are kept."""
        self._kept: dict[OwnKey, tuple[Scorer, Iterable[int]]] = {}
        """The own scores and the nodes that rankings share, in the order of their last use."""
        self._keys: dict[PodShape, object] = {}
        self.absent: dict[int, PodShape] = {}
        """The nodes that do not exist yet, with the pod that keeps others from each."""
        self._terms = False
        """Whether any pod has affinity or anti-affinity to pods."""

    def place(self, shape: PodShape) -> Binding | None:
        """Bind a pod to the best node; None if no node has room. Raises KeyError for an unknown profile."""
        _, equal = self._ranking(shape).best()
        count = sum(map(len, equal))
        if not count:
            return None
        node = self._ties.choose(equal, count) if count > 1 else equal[0][0]
        self.nodes.add(node, shape)
        return Binding(node, count)

    def bind(self, shape: PodShape, node: int) -> None:
        """A pod already runs on a node."""
        self._known(shape)
        self.nodes.add(node, shape)

    def remove(self, shape: PodShape, node: int) -> None:
        """A pod of a node ends."""
        self.nodes.remove(node, shape)

    def lacks(self, node: int) -> PodShape:
        """A node without pods does not exist: a pod that uses all its places keeps others from it."""
        places = self.nodes.allocatable("pods")[node]
        self.absent[node] = shape = PodShape(_ANYWHERE, (("pods", places),), ())
        self.nodes.add(node, shape)
        return shape

    def exists(self, node: int) -> PodShape:
        """A node that was missing exists; returns the pod that kept others from it."""
        shape = self.absent.pop(node)
        self.nodes.remove(node, shape)
        return shape

    def refusals(self, shape: PodShape) -> dict[int, tuple[str, ...]]:
        """Why each other node takes no pod now, in the words of kube-scheduler.

        These are the reasons of the first filter that refuses a node.
        """
        self._known(shape)
        profile = self.profiles[shape.scheduler]
        by_filter = {name: dict[int, tuple[str, ...]]() for name in profile.filters}
        for group in self.nodes.set.groups(shape.demand.keys):
            for name, why in lasting_refusals(shape.demand, group):
                if name in by_filter:
                    for it in group.nodes:
                        by_filter[name].setdefault(self.nodes.index[it.name], (why,))
        for node in self._kept_off[profile.name]:
            by_filter[_AFFINITY][node] = (ENFORCED,)
        if FIT in by_filter:
            by_filter[FIT] = self._short(shape)
        for name, filter_ in pod_filters(self.nodes, shape, profile).items():
            every = range(len(self.nodes.all))
            refusals = filter_.refusals([filter_.key(it) for it in every])
            by_filter[name] = {it: (why,) for it, why in zip(every, refusals, strict=True) if why}
        found: dict[int, tuple[str, ...]] = {}
        for name in profile.filters:
            found = by_filter[name] | found
        return found | dict.fromkeys(self.absent, (ABSENT,)) if self.absent else found

    def _short(self, shape: PodShape) -> dict[int, tuple[str, ...]]:
        """The resources of which nodes have too little left."""
        found: dict[int, tuple[str, ...]] = {}
        for name, amount in shape.requests:
            reason = "Too many pods" if name == "pods" else f"Insufficient {name}"
            for node, free in enumerate(self.nodes.free(name)):
                if free < amount:
                    found[node] = (*found.get(node, ()), reason)
        return found

    def scores(self, shape: PodShape) -> dict[int, dict[str, int]]:
        """The weighted score of each plugin, by node with room."""
        refusals = self.refusals(shape)
        room = [it for it in range(len(self.nodes.all)) if it not in refusals]
        profile = self.profiles[shape.scheduler]
        own = OwnScores(self.nodes, shape, profile)
        found: dict[int, dict[str, int]] = {it: {} for it in room}
        for name, (weight, part) in own.parts.items():
            for node, score in zip(room, part.of(room), strict=True):
                found[node][name] = weight * score
        for name, (weight, common) in common_parts(self.nodes, shape, profile).items():
            by_key: dict[object, list[int]] = {}
            for node in room:
                by_key.setdefault(common.key(node), []).append(node)
            scores = (
                common.scores(list(by_key), [len(it) for it in by_key.values()]) if room else ()
            )
            for nodes, score in zip(by_key.values(), scores, strict=True):
                for node in nodes:
                    found[node][name] = weight * score
        return found

    def _ranking(self, shape: PodShape) -> Ranking:
        """The ranking of a shape. Rankings that were not used for a long time are made anew."""
        if len(self.nodes.changed) > _LOG:
            self._forget()
        key = self._keys.get(shape)
        found = None if key is None else self._rankings.pop(key, None)
        if key is None or found is None:
            key, found = self._made(shape)
            self._keys[shape] = key
        self._rankings[key] = found  # the last used comes last
        if len(self._rankings) > self._most:
            del self._rankings[next(iter(self._rankings))]
        return found

    def _made(self, shape: PodShape) -> tuple[object, Ranking]:
        """A ranking and its key. Shapes share one if they differ only in labels that do not count."""
        self._known(shape)
        profile = self.profiles[shape.scheduler]
        alone = not (
            self._terms
            or spread_constraints(shape, profile, soft=True)
            or spread_constraints(shape, profile, soft=False)
        )
        key = shape.own if alone else shape
        found = self._rankings.pop(key, None)
        if found is not None:
            return key, found
        scorer: Scorer = OwnScores(self.nodes, shape, profile)
        takers: Iterable[int] = self.takers(shape)
        if not alone:  # other shapes can differ only in their labels, such as those of Deployments
            kept = self._kept.pop(shape.own, None)
            if kept is None:
                kept = KeptScores(self.nodes, scorer), list(takers)
            scorer, takers = self._kept[shape.own] = kept
            if len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return key, Ranking(
            self.nodes,
            scorer,
            takers,
            common_parts(self.nodes, shape, profile),
            tuple(pod_filters(self.nodes, shape, profile).values()),
        )

    def _forget(self) -> None:
        """Clear the log of changes, which every ranking must have read."""
        for it in self._rankings.values():
            it.catch_up()
            it.forget()
        self.nodes.forget()

    def _known(self, shape: PodShape) -> None:
        """Rankings read the topologies of all terms, so a new shape with terms makes them anew."""
        if shape not in self.nodes.shapes:
            self.nodes.know(shape)
            if shape.terms:
                self._terms = True
                self._rankings.clear()
                self._keys.clear()

    def takers(self, shape: PodShape) -> Iterator[int]:
        """The nodes that take such a pod, whatever other pods hold."""
        profile = self.profiles[shape.scheduler]
        kept_off = self._kept_off[profile.name]
        for group in self.nodes.set.groups(shape.demand.keys):
            if not any(
                name in profile.filters for name, _ in lasting_refusals(shape.demand, group)
            ):
                indexes = (self.nodes.index[it.name] for it in group.nodes)
                yield from (it for it in indexes if it not in kept_off)

    def _enforced(self, profile: Profile) -> Iterator[int]:
        if profile.required is None or _AFFINITY not in profile.filters:
            return
        for group in self.nodes.set.groups(profile.required.keys):
            if any(name == _AFFINITY for name, _ in lasting_refusals(profile.required, group)):
                yield from (self.nodes.index[it.name] for it in group.nodes)


def lasting_refusals(required: Demand, group: NodeGroup) -> Iterator[tuple[str, str]]:
    """The filters that refuse the nodes of a group, whatever other pods hold, and why."""
    for it in misses(required, group):
        if (name := _FILTER.get(type(it))) is not None:
            yield name, reason(it)
