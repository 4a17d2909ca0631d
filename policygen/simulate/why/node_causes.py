"""Why kube-scheduler does not place all pods of a workload, and what would place them."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.core import TaintView, TolerationView
from policygen.kubernetes.node_filters import HARD, REQUIRED, NoTerm, NotTolerated, OtherName
from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.scheduler_reasons import INSUFFICIENT, reason
from policygen.kubernetes.untyped import mapping
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.kueue.amounts import counted
from policygen.simulate.over_time.job_run import Shapes
from policygen.simulate.placement.preemption import RunningPod, best, preemptions
from policygen.simulate.placement.scheduler import ABSENT, ENFORCED, KubeScheduler
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.why.causes import (
    Cause,
    CauseKind,
    NearestNode,
    NeverPlaced,
    NodeReason,
    waiting_pods,
)
from policygen.simulate.why.changes import (
    AffinityRemoved,
    Change,
    ConstraintRemoved,
    FieldChange,
    OwnChange,
    PodsChange,
    PolicyChange,
    PriorityChange,
    RequestChange,
    SelectorChange,
    TolerationAdded,
    pod_spec,
)
from policygen.simulate.why.ends import fewest
from policygen.simulate.why.remedy import Cost, Remedy

_EMPTY = "no nodes available to schedule pods"
"""What kube-scheduler reports without any node."""
_ENDS = 32
"""The most workloads whose end is tried."""
_VALUES = 4
"""The most other values of a label that are tried."""
_SCANNED = 32
"""All alternatives of a family that is not larger are tried."""
_OF_NODE = frozenset(
    {
        reason(NoTerm(())),
        reason(NotTolerated(TaintView("", "", ""))),
        reason(OtherName("")),
        ENFORCED,
    }
)
"""Why labels, taints or the name of a node keep pods from it."""
UNIT = {"cpu": 1000, "memory": 2**30, "ephemeral-storage": 2**30}


@dataclass(frozen=True, slots=True, eq=False)
class OccupiedNodes:
    """Nodes with the pods that run on them."""

    kube: KubeScheduler
    shapes: Shapes
    running: Mapping[int, Sequence[RunningPod]]
    """By node."""
    priorities: tuple[tuple[int, str], ...] = ()
    """Values and names of the PriorityClasses with which a pod preempts others, the lowest first."""
    bound: dict[str, list[tuple[PodShape, int]]] = field(default_factory=dict)
    """The pods on nodes by the name of their workload."""

    def room_beside(
        self,
        others: Iterable[tuple[Arrival, Mapping[str, Mapping[str, str]]]],
        gone: Sequence[str],
        has_room: Callable[[], bool],
    ) -> bool:
        """What `has_room` returns while others run, too, and some have left. `others` have their flavors.

        Some of those that have left can be among the others, because they are admitted again.
        """
        left = self.leave(gone)
        anew = [(replace(it, nodes=()), chosen) for it, chosen in others]
        added = [one for it, chosen in anew for one in self._placed(it, it.pods, chosen).bound]
        found = has_room()
        self._undo(added)
        self.back(left)
        return found

    def start(self, arrival: Arrival, chosen: Mapping[str, Mapping[str, str]]) -> None:
        """Place the pods of a workload that was admitted, as far as nodes have room."""
        if arrival.name not in self.bound:
            placed = self._placed(arrival, arrival.pods, chosen, every=True)
            self.bound[arrival.name] = placed.bound

    def has_room(
        self,
        arrival: Arrival,
        changes: Sequence[Change],
        chosen: Mapping[str, Mapping[str, str]],
        gone: Sequence[str],
    ) -> bool:
        """Whether all pods find a node after the changes, when these workloads have left."""
        left = self.leave(gone)
        own = [it for it in changes if not isinstance(it, PolicyChange)]
        fits = self._fits(arrival, own, chosen)
        self.back(left)
        return fits

    def leave(self, names: Iterable[str]) -> list[tuple[PodShape, int]]:
        """Remove the pods of workloads; returns what `back` needs."""
        left = [it for name in names for it in self.bound.get(name, ())]
        self._undo(left)
        return left

    def back(self, left: Iterable[tuple[PodShape, int]]) -> None:
        """The pods are on their nodes again."""
        for shape, node in left:
            self.kube.bind(shape, node)

    def cause(self, arrival: Arrival, chosen: Mapping[str, Mapping[str, str]]) -> Cause | None:
        """Why not all pods have a node; None: all of them find one. `chosen` are the flavors by pod set."""
        placed = self._placed(arrival, arrival.pods, chosen, every=True)
        found = None
        if placed.failed is not None:
            pods = sum(it.count for it in arrival.pods)
            found = self.refused(placed.failed, pods - sum(placed.waiting), pods)
            found = replace(found, waiting=waiting_pods(arrival.pods, placed.waiting))
        self._undo(placed.bound)
        return found

    def ends(
        self,
        arrival: Arrival,
        chosen: Mapping[str, Mapping[str, str]],
        changes: Sequence[Change] = (),
    ) -> tuple[str, ...]:
        """The fewest of the largest workloads on nodes whose end gives all its pods room; empty: that does not help."""
        held: Counter[str] = Counter()
        for name, pods in self.bound.items():
            for shape, _ in pods:
                held[name] += sum(amount for of, amount in shape.requests if is_one(of)) or 1
        names = [name for name, _ in held.most_common(_ENDS) if name != arrival.name]

        return fewest(names, lambda gone: self.has_room(arrival, changes, chosen, gone))

    def never(
        self, arrival: Arrival, chosen: Mapping[str, Mapping[str, str]]
    ) -> NeverPlaced | None:
        """Why these nodes do not hold all its pods; None: they do. They must have no pods."""
        arrival = replace(arrival, nodes=())
        placed = self._placed(arrival, arrival.pods, chosen, every=True)
        self._undo(placed.bound)
        if placed.failed is None:
            return None
        refusals = self.kube.refusals(placed.failed)
        alone = len(refusals) < len(self.kube.nodes.all)
        nearest = None if alone else self._nearest(placed.failed, refusals)
        pods = sum(it.count for it in arrival.pods)
        return NeverPlaced(pods, pods - sum(placed.waiting), alone, nearest)

    def remedies(
        self, arrival: Arrival, chosen: Mapping[str, Mapping[str, str]], allowed: Collection[str]
    ) -> Iterator[Remedy]:
        """Changes with which all pods find a node: an `allowed` one, or one that they can use already.

        All pods change with their template, also those that run.
        """
        allowed = {*allowed, *self.usable(arrival, chosen)}
        left = self.leave([arrival.name])
        anew = replace(arrival, nodes=())
        found = [
            Remedy(tuple(self._smallest(anew, family, chosen, allowed)), Cost())
            for family in self.families(anew, chosen, allowed)
            if family and self._fits(anew, family[-1], chosen, allowed)
        ]
        self.back(left)
        yield from found
        yield from self._uncordoned(arrival, chosen)
        yield from self._preempting(arrival, chosen)

    def usable(self, arrival: Arrival, chosen: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
        """The nodes to which labels and taints let its pods go, whatever runs there."""
        for batch in arrival.pods:
            shape = self.shapes(arrival, batch, chosen.get(batch.name, {}), {})
            if shape is not None:
                refusals = self.kube.refusals(shape)
                for i, node in enumerate(self.kube.nodes.all):
                    if _OF_NODE.isdisjoint(refusals.get(i, ())):
                        yield node.name

    def _smallest(
        self,
        arrival: Arrival,
        family: Sequence[Sequence[OwnChange]],
        chosen: Mapping[str, Mapping[str, str]],
        allowed: Collection[str],
    ) -> Sequence[OwnChange]:
        """The first alternative with which all pods find a node; the last one is known to work."""

        def fits(index: int) -> bool:
            return self._fits(arrival, family[index], chosen, allowed)

        if len(family) <= _SCANNED:  # fewer pods or requests can lead to a worse placement
            return next(it for i, it in enumerate(family) if i == len(family) - 1 or fits(i))
        return family[bisect_left(range(len(family) - 1), 1, key=fits)]

    def _placed(
        self,
        arrival: Arrival,
        batches: Sequence[PodBatch],
        chosen: Mapping[str, Mapping[str, str]],
        *,
        every: bool = False,
    ) -> "_PlacedPods":
        """Place the pods without a node: all that have room, or those before the first one without room."""
        nodes = iter(arrival.nodes)
        failed: PodShape | None = None
        bound, waiting = list[tuple[PodShape, int]](), list[int]()
        for batch in batches:
            shape = self.shapes(arrival, batch, chosen.get(batch.name, {}), {})
            left = sum(not next(nodes, "") for _ in range(batch.count))
            while left and shape is not None:
                binding = self.kube.place(shape)
                if binding is None:
                    failed = shape if failed is None else failed
                    break
                bound.append((shape, binding.node))
                left -= 1
            waiting.append(left if shape is not None else 0)
            if failed is not None and not every:
                break
        return _PlacedPods(failed, tuple(waiting), bound)

    def _undo(self, undo: Sequence[tuple[PodShape, int]]) -> None:
        for shape, node in undo:
            self.kube.remove(shape, node)

    def _fits(
        self,
        arrival: Arrival,
        changes: Sequence[OwnChange],
        chosen: Mapping[str, Mapping[str, str]],
        allowed: Collection[str] | None = None,
    ) -> bool:
        """Whether all pods find a node after changes of the owner; with `allowed`, one of these."""
        batches = [changed_batch(it, changes) for it in arrival.pods]
        placed = self._placed(arrival, batches, chosen)
        self._undo(placed.bound)
        nodes = self.kube.nodes.all
        return placed.failed is None and (
            allowed is None or all(nodes[node].name in allowed for _, node in placed.bound)
        )

    def refused(self, shape: PodShape, placed: int, pods: int) -> Cause:
        """Why no node takes a pod of this shape, the first one of `pods` without a node."""
        refusals = self.kube.refusals(shape)
        if shape.demand.node_name:
            return self._rejected(shape, refusals, placed, pods)
        counts = Counter(reason for reasons in refusals.values() for reason in reasons)
        reasons = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
        # kube-scheduler does not know nodes that an autoscaler has not added.
        total = len(self.kube.nodes.all) - counts[ABSENT]
        listed = ", ".join(sorted(f"{n} {reason}" for reason, n in reasons if reason != ABSENT))
        return Cause(
            CauseKind.NO_NODES,
            message=f"0/{total} nodes are available: {listed}." if total else _EMPTY,
            node_reasons=tuple(NodeReason(reason, count) for reason, count in reasons),
            nearest=self._nearest(shape, refusals),
            placed=placed,
            pods=pods,
        )

    def _rejected(
        self, shape: PodShape, refusals: Mapping[int, tuple[str, ...]], placed: int, pods: int
    ) -> Cause:
        """Why the kubelet of the node that pods name rejects them."""
        name = shape.demand.node_name
        node = self.kube.nodes.index.get(name)
        message, nearest = f"node {name} does not exist", None
        if node is not None:
            message = ", ".join(map(_by_kubelet, refusals.get(node, ())))
            nearest = self._nearest(shape, {node: refusals.get(node, ())})
        return Cause(
            CauseKind.NODE_REJECTS,
            f"Node {name}",
            "",
            message,
            nearest=nearest,
            placed=placed,
            pods=pods,
        )

    def _nearest(
        self, shape: PodShape, refusals: Mapping[int, tuple[str, ...]]
    ) -> NearestNode | None:
        """Of the nodes that have only too little of something, the one with the smallest shortage."""
        found: tuple[float, str, int, str, int, int] | None = None
        free = {name: self.kube.nodes.free(name) for name, _ in shape.requests}
        for node, reasons in refusals.items():
            if not all(it.startswith(INSUFFICIENT) for it in reasons):
                continue
            parts = []
            for name, amount in shape.requests:
                if free[name][node] < amount:
                    parts.append(((amount - free[name][node]) / amount, name, amount))
            if parts:
                share, name, amount = max(parts)
                one = (share, self.kube.nodes.all[node].name, node, name, amount, free[name][node])
                found = one if found is None else min(found, one)
        if found is None:
            return None
        _, label, node, name, amount, left = found
        holders = sorted(
            (it for it in self.running.get(node, ()) if it.shape.amount(name)),
            key=lambda it: (-it.shape.amount(name), it.name),
        )
        owners = tuple(dict.fromkeys(it.name for it in holders))[:3]
        return NearestNode(label, name, amount, max(left, 0), owners)

    def families(
        self, arrival: Arrival, chosen: Mapping[str, Mapping[str, str]], allowed: Collection[str]
    ) -> Iterator[list[list[OwnChange]]]:
        """Alternatives of one kind, the smallest first, with labels and taints of allowed nodes."""
        nodes = [it for it in self.kube.nodes.all if it.name in allowed]
        for batch in arrival.pods:
            shape = self.shapes(arrival, batch, chosen.get(batch.name, {}), {})
            if shape is None:
                continue
            yield from _tolerations(batch, nodes)
            yield from _selectors(batch, nodes)
            if mapping(batch.spec.affinity, "nodeAffinity", REQUIRED):
                yield [[AffinityRemoved(batch.name)]]
            for part in ("podAffinity", "podAntiAffinity"):
                if batch.spec.affinity.get(part):
                    yield [[ConstraintRemoved(batch.name, part)]]
            if batch.spec.topology_spread_constraints:
                yield [[ConstraintRemoved(batch.name, "topologySpreadConstraints")]]
            if batch.count > 1:
                counts = range(batch.count - 1, 0, -1)
                yield [[PodsChange(batch.name, batch.count, it)] for it in counts]
            yield from _smaller(batch)
            yield from _scaled(batch)

    def _uncordoned(
        self, arrival: Arrival, chosen: Mapping[str, Mapping[str, str]]
    ) -> Iterator[Remedy]:
        """A cordoned node that holds the pods."""
        nodes = list(self.kube.nodes.all)
        for index, node in enumerate(nodes):
            if not node.unschedulable:
                continue
            opened = [*nodes[:index], replace(node, unschedulable=False), *nodes[index + 1 :]]
            other = self._on(opened)
            if other.cause(arrival, chosen) is None:
                path = ("spec", "unschedulable")
                yield Remedy((FieldChange("Node", "", node.name, path, True, None),), Cost())  # noqa: FBT003 - values
                return

    def _on(self, nodes: Sequence[Node]) -> "OccupiedNodes":
        """The same pods on other nodes with the same names."""
        kube = KubeScheduler(nodes, self.kube.profiles.values(), None)
        for index, pods in self.running.items():
            for it in pods:
                kube.bind(it.shape, index)
        return OccupiedNodes(kube, self.shapes, self.running, self.priorities)

    def _preempting(
        self, arrival: Arrival, chosen: Mapping[str, Mapping[str, str]]
    ) -> Iterator[Remedy]:
        """A higher PriorityClass, if only one pod has no node."""
        placed = self._placed(arrival, arrival.pods, chosen, every=True)
        if placed.failed is not None and sum(placed.waiting) == 1:
            for value, name in self.priorities:
                if value <= arrival.priority:
                    continue
                found = best(preemptions(self.kube, placed.failed, value, self.running))
                if found:
                    victims = tuple(it.name for it in found[0].victims)
                    change = PriorityChange(arrival.priority, value, name, of_pods=True)
                    yield Remedy((change,), Cost(preempted=victims))
                    break
        self._undo(placed.bound)


class _PlacedPods(Struct, frozen=True, eq=False):
    """What became of pods that had no node."""

    failed: PodShape | None
    """The first shape for which no node has room."""
    waiting: tuple[int, ...]
    """The number of pods without a node, by batch."""
    bound: list[tuple[PodShape, int]]


def _tolerations(batch: PodBatch, nodes: Iterable[Node]) -> Iterator[list[list[OwnChange]]]:
    taints = {
        (taint.key, taint.value, taint.effect): None
        for node in nodes
        for taint in node.taints
        if taint.effect in HARD
    }
    for key, value, effect in sorted(taints):
        one = TolerationView(key, "Equal" if value else "Exists", value, effect)
        yield [[TolerationAdded(batch.name, one)]]


def _selectors(batch: PodBatch, nodes: Iterable[Node]) -> Iterator[list[list[OwnChange]]]:
    nodes = list(nodes)
    for key, old in sorted(batch.spec.node_selector.items()):
        values = {it.labels[key] for it in nodes if key in it.labels} - {old}
        for value in sorted(values)[:_VALUES]:
            yield [[SelectorChange(batch.name, key, old, value)]]
        yield [[SelectorChange(batch.name, key, old, None)]]


def changed_batch(batch: PodBatch, changes: Sequence[OwnChange]) -> PodBatch:
    """The pods after the changes that are about them."""
    for change in changes:
        if getattr(change, "pod_set", None) != batch.name:
            continue
        if isinstance(change, PodsChange):
            batch = replace(batch, count=change.after)
        else:
            batch = replace(batch, spec=pod_spec(batch.spec, change))
    return batch


def _smaller(batch: PodBatch) -> Iterator[list[list[OwnChange]]]:
    """Less of one resource for each pod."""
    for name, amount in sorted(batch.spec.requests.items()):
        before = counted(name, amount)
        unit = UNIT.get(name, 1)
        if before > unit:
            steps = range((before - 1) // unit, 0, -1)
            yield [[RequestChange(batch.name, name, before, it * unit)] for it in steps]


def _scaled(batch: PodBatch) -> Iterator[list[list[OwnChange]]]:
    """Less of all resources for each pod, in proportion to its GPUs."""
    amounts = {name: counted(name, amount) for name, amount in batch.spec.requests.items()}
    gpus = max((amount for name, amount in amounts.items() if is_one(name)), default=0)
    if gpus > 1 and len(amounts) > 1:
        yield [
            [
                RequestChange(batch.name, name, amount, _part(name, amount, left, gpus))
                for name, amount in sorted(amounts.items())
            ]
            for left in range(gpus - 1, 0, -1)
        ]


def _part(name: str, amount: int, left: int, of: int) -> int:
    unit = UNIT.get(name, 1)
    return max(amount * left // of // unit * unit, min(unit, amount))


def _by_kubelet(reason: str) -> str:
    """A reason of a filter as the kubelet reports it: `OutOfcpu`."""
    if reason == "Too many pods":
        return "OutOfpods"
    return reason.replace(INSUFFICIENT, "OutOf", 1) if reason.startswith(INSUFFICIENT) else reason
