"""Which flavors a workload gets, and whether it must borrow or preempt for them.

Source: pkg/scheduler/flavorassigner of Kueue 0.19.2, with its feature gates at their defaults.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum

from msgspec import Struct, field

from policygen.simulate.kueue import preemption
from policygen.simulate.kueue.amounts import evaluation_order, shown
from policygen.simulate.kueue.queue import NEVER, FlavorChoice, Group, SimulatedQueue
from policygen.simulate.kueue.quota import borrowing_height
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.topology import IMPLIED, PlacementRequest, TopologyPlacement
from policygen.simulate.kueue.victims import Preemptor, Victim
from policygen.simulate.kueue.workload import LastAssignment, PodSet, QueuedWorkload

VictimKey = tuple[frozenset[int], tuple[tuple[int, int], ...]]
"""The pairs that need a preemption, and all that is requested."""


class Mode(IntEnum):
    """How well a request fits, the worst first."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    """It would fit if workloads left, but none may be preempted."""
    PREEMPT = 2
    """Victims are in its own queue."""
    RECLAIM = 3
    """All victims are in other queues."""
    FIT = 4


class Fit(Struct, frozen=True):
    """How a request fits, and how far it borrows (`borrowing_height`)."""

    mode: Mode
    height: int = 0

    def rank(self, queue: SimulatedQueue) -> tuple[int, int, int]:
        """Sorts by preference: a queue prefers either a better mode or less borrowing."""
        if self.mode is Mode.NO_FIT:
            return 0, 0, 0
        some = 1 if self.mode is Mode.NO_CANDIDATES else 2
        if queue.preemption_over_borrowing:
            return some, -self.height, self.mode
        return some, self.mode, -self.height


_FITS, _NO_FIT = Fit(Mode.FIT), Fit(Mode.NO_FIT)


class Chosen(Struct):
    """The flavor of one resource."""

    flavor: str
    pair: int
    mode: Mode
    height: int
    tried: int = -1


class PodSetAssignment(Struct):
    """The flavors of one pod set, or why there are none."""

    pod_set: PodSet
    count: int
    requests: Mapping[str, int]
    """Of all its pods."""
    chosen: dict[str, Chosen]
    """By resource."""
    reasons: list[str]
    error: str = ""
    """Why its topology cannot be chosen."""

    @property
    def mode(self) -> Mode:
        """The worst mode of its resources."""
        if self.error:
            return Mode.NO_FIT
        if not self.reasons:
            return Mode.FIT
        return min([it.mode for it in self.chosen.values()], default=Mode.NO_FIT)


class FlavorAssignment(Struct):
    """The flavors of a workload."""

    pod_sets: list[PodSetAssignment] = field(default_factory=list)
    usage: dict[int, int] = field(default_factory=dict)
    """What it would use, by pair."""
    height: int = 0
    """How far it borrows (`borrowing_height`)."""
    last: LastAssignment | None = None
    """Where the scan of flavors ended."""
    forced: Mode | None = None
    """Its mode, once it is known; topologies can make it worse."""
    placing: tuple[PlacementRequest, ...] = ()
    """The pods for which topologies must have room."""
    placements: dict[str, TopologyPlacement] = field(default_factory=dict)
    """By pod set."""
    victims: Mapping[VictimKey, list[Victim]] = field(default_factory=dict)
    """Those that were found for single resources, by needs and request."""
    _message: str | None = None

    @property
    def mode(self) -> Mode:
        """NO_FIT, FIT, or one of the modes between."""
        if self.forced is not None:
            return self.forced
        return min([it.mode for it in self.pod_sets], default=Mode.NO_FIT)

    @property
    def preempts(self) -> bool:
        """Whether it fits only after a preemption."""
        mode = self.mode if self.forced is None else self.forced
        return mode is not Mode.FIT and mode is not Mode.NO_FIT

    @property
    def message(self) -> str:
        """Why it does not fit, in Kueue's words. It is read when all reasons are known."""
        if self._message is None:
            self._message = next(self._errors(), "") or "; ".join(self._misfits())
        return self._message

    def _errors(self) -> Iterator[str]:
        for it in self.pod_sets:
            if it.error:
                yield f"failed to assign flavors to pod set {it.pod_set.name}: {it.error}"

    def _misfits(self) -> Iterator[str]:
        for it in self.pod_sets:
            if it.reasons:
                why = ", ".join(sorted(it.reasons))
                yield f"couldn't assign flavors to pod set {it.pod_set.name}: {why}"

    def named(self, name: str) -> PodSetAssignment:
        """The assignment of a pod set."""
        return next(it for it in self.pod_sets if it.pod_set.name == name)

    def force(self, pod_set: PodSetAssignment, mode: Mode) -> None:
        """Let all flavors of a pod set, and the workload, have a mode."""
        for it in pod_set.chosen.values():
            it.mode = mode
        self.forced = mode

    def needs(self) -> frozenset[int]:
        """The pairs that need a preemption."""
        return frozenset(
            it.pair
            for each in self.pod_sets
            for it in each.chosen.values()
            if Mode.NO_FIT < it.mode < Mode.FIT
        )

    def requested(self) -> dict[int, int]:
        """What it requests of each pair; Kueue does not count `pods` here."""
        found: dict[int, int] = {}
        for each in self.pod_sets:
            for resource, _ in each.pod_set.requests:
                amount = each.requests[resource]
                if amount:
                    pair = each.chosen[resource].pair
                    found[pair] = found.get(pair, 0) + amount
        return found


def assign(
    state: QueueState,
    workload: QueuedWorkload,
    queue: SimulatedQueue,
    counts: Sequence[int] | None = None,
    nominated: Sequence[Mapping[str, str]] | None = None,
) -> FlavorAssignment:
    """Choose flavors for all pod sets, with these numbers of pods instead of all.

    Only the `nominated` flavors are tried, given by pod set and resource; None: all.
    """
    assigner = _Assigner(state, workload, queue, nominated)
    last = LastAssignment([], queue.generation, state.cycle)
    found = FlavorAssignment(last=last, usage=assigner.usage, victims=assigner.victims)
    for i, pod_set in enumerate(workload.pod_sets):
        one = assigner.pod_set(i, pod_set.count if counts is None else counts[i])
        found.pod_sets.append(one)
        for resource, it in one.chosen.items():
            found.height = max(found.height, it.height)
            found.usage[it.pair] = found.usage.get(it.pair, 0) + one.requests[resource]
        last.tried.append({resource: it.tried for resource, it in one.chosen.items()})
        if one.requests and not one.chosen:
            return found
    if state.topology_aware:
        _place(state, queue, found)
    if not found.placing:
        found.forced = found.mode  # it does not change any more
    return found


def _place(state: QueueState, queue: SimulatedQueue, found: FlavorAssignment) -> None:
    """Find domains for the pods that ask for them; without, the mode gets worse."""
    found.placing = tuple(sorted(_placing(state, queue, found), key=lambda it: it.flavor))
    if not found.placing:
        return
    if found.mode is Mode.FIT:
        found.placements, failure = state.place(found.placing)
        if failure is None:
            return
        failed = found.named(failure[0])
        failed.reasons.append(failure[1])
        found.force(failed, Mode.PREEMPT)
    if found.preempts:
        _, failure = state.place(found.placing, empty=True)
        if failure is not None:
            found.force(found.named(failure[0]), Mode.NO_FIT)
        else:
            for it in found.placing:
                found.force(found.named(it.name), Mode.PREEMPT)


def _placing(
    state: QueueState, queue: SimulatedQueue, found: FlavorAssignment
) -> Iterator[PlacementRequest]:
    for it in found.pod_sets:
        request = it.pod_set.topology or (IMPLIED if queue.tas_only else None)
        if request is None or not it.count:
            continue
        flavors = sorted({each.flavor for each in it.chosen.values()} & state.topologies.keys())
        if state.topologies.keys().isdisjoint(queue.flavors()):
            it.error = "workload requires Topology, but there is no TAS cache information"
        elif len(flavors) == 1:
            per_pod, shape = dict(it.pod_set.per_pod), it.pod_set.shape
            name = it.pod_set.name
            yield PlacementRequest(name, flavors[0], request, it.count, per_pod, shape)
        elif flavors:
            it.error = f"more than one TAS flavor assigned: {', '.join(flavors)}"
        else:
            it.error = "no TAS flavor assigned"


def topology_refusal(
    state: QueueState, queue: SimulatedQueue, pod_set: PodSet, group: Group, flavor: str
) -> str:
    """Why a flavor has not the topology that a pod set asks for, in Kueue's words; empty: it has."""
    if not state.topology_aware:
        return ""
    request, topology = pod_set.topology, state.topologies.get(flavor)
    if request is None:
        other = topology is not None and not queue.tas_only
        return f'Flavor "{flavor}" supports only TopologyAwareScheduling' if other else ""
    if topology is None:
        covered = any(name in group.covered for name, _ in pod_set.per_pod)
        return f'Flavor "{flavor}" does not support TopologyAwareScheduling' if covered else ""
    known = topology.has_levels(request)
    return "" if known else f'Flavor "{flavor}" does not contain the requested level'


class _Assigner:
    """Chooses flavors for one workload."""

    def __init__(
        self,
        state: QueueState,
        workload: QueuedWorkload,
        queue: SimulatedQueue,
        nominated: Sequence[Mapping[str, str]] | None,
    ) -> None:
        self._state = state
        self._workload = workload
        self._queue = queue
        self.nominated = nominated
        self.usage: dict[int, int] = {}
        """What earlier pod sets use, by pair."""
        self.victims: dict[VictimKey, list[Victim]] = {}

    def pod_set(self, i: int, count: int) -> PodSetAssignment:
        """Choose the flavors of one pod set with `count` pods."""
        pod_set = self._workload.pod_sets[i]
        requests = self._requests(pod_set, count)
        chosen: dict[str, Chosen] = {}
        reasons: list[str] = []
        for resource, amount in requests.items():
            if resource in chosen:
                continue
            group = self._queue.group_of.get(resource)
            if group is None:
                if amount == 0:
                    continue
                best: dict[str, Chosen] = {}
                why = [f"resource {resource} unavailable in ClusterQueue"]
            else:
                wanted = [(it, each) for it, each in requests.items() if it in group.covered]
                best, why = self._group(i, group, resource, wanted)
            if not best:
                return PodSetAssignment(pod_set, count, requests, {}, why)
            chosen.update(best)
            reasons += why
        return PodSetAssignment(pod_set, count, requests, chosen, reasons)

    def _requests(self, pod_set: PodSet, count: int) -> dict[str, int]:
        requests = pod_set.total(count)
        if "pods" in self._queue.group_of:
            requests["pods"] = count
            requests = dict(sorted(requests.items(), key=lambda it: evaluation_order(it[0])))
        return requests

    def _group(
        self, i: int, group: Group, resource: str, wanted: list[tuple[str, int]]
    ) -> tuple[dict[str, Chosen], list[str]]:
        """The best flavor of a group for all its resources, and why it is not a plain fit."""
        queue = self._queue
        best: dict[str, Chosen] = {}
        best_fit = _NO_FIT
        reasons: list[str] = []
        attempted = -1
        for index in range(self._first_flavor(i, resource), len(group.flavors)):
            attempted = index
            flavor = group.flavors[index]
            refused = self._other_flavor(i, group, resource, flavor.name)
            refused = refused or self._state.refusal(flavor.name, self._workload.pod_sets[i])
            if refused:
                reasons.append(refused)
                continue
            chosen, fit = self._flavor(flavor, wanted, reasons)
            ends = not _try_next(queue, fit)
            if ends or fit.rank(queue) > best_fit.rank(queue):
                best, best_fit = chosen, fit
            if ends:
                break
        last = -1 if attempted == len(group.flavors) - 1 else attempted
        for it in best.values():
            it.tried = last
        return best, [] if best_fit.mode is Mode.FIT else reasons

    def _other_flavor(self, i: int, group: Group, resource: str, flavor: str) -> str:
        """Why a flavor is not tried: its topology, or because the cycle chose another before."""
        if self.nominated is not None and self.nominated[i].get(resource) != flavor:
            return f"skipping flavor {flavor} as it is not found in the nomination mapping for resource {resource}"
        return topology_refusal(self._state, self._queue, self._workload.pod_sets[i], group, flavor)

    def _first_flavor(self, i: int, resource: str) -> int:
        """The flavor at which the scan begins: behind the last one tried."""
        last = self._workload.last
        if last is None or i >= len(last.tried):
            return 0
        return last.tried[i].get(resource, -1) + 1

    def _flavor(
        self, flavor: FlavorChoice, wanted: list[tuple[str, int]], reasons: list[str]
    ) -> tuple[dict[str, Chosen], Fit]:
        """How all resources of a group fit into one flavor: as the worst of them. Adds the reasons."""
        chosen: dict[str, Chosen] = {}
        worst = _FITS
        for resource, amount in wanted:
            pair = flavor.pairs[resource]
            fit, why = self._quota(pair, amount)
            if why:
                reasons.append(why)
            if fit is not worst and fit.rank(self._queue) < worst.rank(self._queue):
                worst = fit
            if worst.mode is not Mode.NO_FIT:
                chosen[resource] = Chosen(flavor.name, pair, fit.mode, fit.height)
        return chosen, worst

    def _quota(self, pair: int, request: int) -> tuple[Fit, str]:
        """How one resource fits into the quota of one flavor, and why it does not."""
        node = self._queue.node
        assumed = self.usage.get(pair, 0)
        amount = assumed + request
        flavor, resource = self._state.pairs[pair]
        most = node.potential[pair]
        if amount > most:
            why = (
                f"insufficient quota for {resource} in flavor {flavor}, previously considered "
                f"podsets requests ({shown(resource, assumed)}) + current podset request "
                f"({shown(resource, request)}) > maximum capacity ({shown(resource, most)})"
            )
            return _NO_FIT, why
        height, may_reclaim = borrowing_height(node, pair, amount)
        available = max(0, node.available(pair))
        if amount <= available:
            return Fit(Mode.FIT, height) if height else _FITS, ""
        missing = shown(resource, amount - available)
        why = f"insufficient unused quota for {resource} in flavor {flavor}, {missing} more needed"
        if node.nominal[pair] >= amount or may_reclaim or self._preempts_while_borrowing():
            return self._after_preemption(pair, amount, height), why
        return Fit(Mode.NO_FIT, height), why

    def _preempts_while_borrowing(self) -> bool:
        queue = self._queue
        return queue.borrow_within_cohort != NEVER or (
            self._state.fair and queue.reclaim_within_cohort != NEVER
        )

    def _after_preemption(self, pair: int, amount: int, height: int) -> Fit:
        """How a resource would fit if its victims had left. `height` is that without a preemption."""
        state, queue = self._state, self._queue
        needs, requested = frozenset((pair,)), {pair: amount}
        found = preemption.targets(Preemptor(state, self._workload, queue, needs, requested))
        self.victims[needs, tuple(requested.items())] = found
        if not found:
            return Fit(Mode.NO_CANDIDATES, height)
        victims = [it.workload for it in found]
        with state.without(victims):
            height, _ = borrowing_height(queue.node, pair, amount)
        own = any(state.queue_of(it) is queue for it in victims)
        return Fit(Mode.PREEMPT if own else Mode.RECLAIM, height)


def _try_next(queue: SimulatedQueue, fit: Fit) -> bool:
    """Whether the scan goes on behind a flavor."""
    if fit.mode in (Mode.NO_FIT, Mode.NO_CANDIDATES):
        return True
    if fit.mode is not Mode.FIT and queue.try_next_after_preempt:
        return True
    return fit.height > 0 and queue.try_next_after_borrow
