"""One scheduling cycle.

Source: pkg/scheduler/scheduler.go of Kueue 0.19.2, with its feature gates at their defaults.
"""

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from policygen.simulate.kueue import known_tries, preemption
from policygen.simulate.kueue.assignment import FlavorAssignment, Mode, assign
from policygen.simulate.kueue.entry import CycleEntry, EntryDecision, Outcome
from policygen.simulate.kueue.order import ordered
from policygen.simulate.kueue.queue import ANY, SimulatedQueue
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.ties import CycleTies
from policygen.simulate.kueue.topology import TopologyPlacement
from policygen.simulate.kueue.victims import Preemptor, Victim
from policygen.simulate.kueue.workload import (
    Admission,
    LastAssignment,
    PodSetAdmission,
    QueuedWorkload,
)

_AGAIN = (Outcome.OVERLAP, Outcome.NO_LONGER_FITS, Outcome.PREEMPTING)
"""Outcomes after which a workload is tried in the next cycle, with BestEffortFIFO."""
_Reserved = tuple[SimulatedQueue, dict[int, int], list[TopologyPlacement]]
"""Quota and domains that are kept from later entries of a cycle."""
_MOST_ATTEMPTS = 23
"""The most other orders that are tried after a tie: all orders of four entries. Then so many change one tie."""


def run(state: QueueState, now: float) -> list[CycleEntry]:
    """Try the first workload of each active queue, and admit what fits.

    Admitted workloads hold quota from then on. Victims are marked as evicted and still hold
    theirs. Returns what became of each workload; an empty list if no workload waits. Where Kueue
    has no order, `state.chance` decides, and the workloads for which it matters are marked.
    """
    state.cycle += 1
    entries = []
    trees: dict[QuotaNode | None, list[CycleEntry]] = {}
    for queue in state.queues.values():
        if not queue.pending.length or queue.inactive:
            continue
        workload = queue.pending.head()
        if workload is None:
            continue
        entry = CycleEntry(workload, queue, before=workload.last)
        entries.append(entry)
        if _admissible(entry):
            # Trees share no quota, but nodes.
            trees.setdefault(None if state.topologies else queue.node.root(), []).append(entry)
    for tree in trees.values():
        _decide(state, tree)
    for entry in entries:
        if entry.outcome is Outcome.ADMITTED:
            _admit(entry, now)
        else:
            _requeue(entry)
    return entries


def checks_of(workload: QueuedWorkload, queue: SimulatedQueue) -> set[str]:
    """The admission checks of the flavors that a workload got."""
    if not queue.checks or workload.admission is None:
        return set()
    flavors = {it for each in workload.admission.pod_sets for it in each.flavors.values()}
    return {it for it, of in queue.checks.items() if flavors & (of or flavors)}


def _decide(state: QueueState, tree: list[CycleEntry]) -> None:
    """Decide about the entries of one tree, or of several that share nodes, and mark those for which a tie matters."""
    ties = _try(state, tree, ())
    if not ties.widths or _all_admitted(tree):
        return
    found: dict[tuple[EntryDecision, ...], tuple[int, ...]] = {
        tuple(it.decision for it in tree): ()
    }
    first = ties
    script = ties.following()
    for _ in range(_MOST_ATTEMPTS):
        if script is None:
            break
        _undo(state, tree)
        ties = _try(state, tree, script)
        found.setdefault(tuple(it.decision for it in tree), script)
        script = ties.following()
    if script is not None:  # the orders so far differ only in the last ties
        for single in islice(first.singles(), _MOST_ATTEMPTS):
            _undo(state, tree)
            _try(state, tree, single)
            found.setdefault(tuple(it.decision for it in tree), single)
    _mark(tree, found, complete=script is None)
    _undo(state, tree)
    scripts = list(found.values())
    _try(state, tree, scripts[state.chance.randrange(len(scripts))] if scripts[1:] else ())


def _all_admitted(tree: list[CycleEntry]) -> bool:
    """Whether all that might fit was admitted, so that every order gives the same."""
    return sum(bool(it.assignment.placements) for it in tree) <= 1 and all(
        (it.outcome is Outcome.ADMITTED or it.passive) and not it.tied and not it.chosen_again
        for it in tree
    )


def _mark(
    tree: list[CycleEntry], found: Collection[tuple[EntryDecision, ...]], *, complete: bool
) -> None:
    """Mark what differs between the possible decisions; all that may have been missed, too."""
    for entry, decisions in zip(tree, zip(*found, strict=True), strict=True):
        differs = len({it.effect for it in decisions}) > 1
        if differs or not (complete or entry.outcome is Outcome.NO_FIT):
            entry.workload.either = True
            for decision in decisions:
                for victim in decision.targets:
                    victim.workload.either = True


def _try(state: QueueState, tree: list[CycleEntry], script: tuple[int, ...]) -> CycleTies:
    """Decide about the entries of one tree, with these options at ties. Those admitted hold quota."""
    ties = state.ties = CycleTies(script)
    same = not any(it.tied for it in tree)
    for entry in tree:
        before = len(ties.widths)
        if entry.nominated is None or not same:
            entry.nominated = _nominate(state, entry)
        entry.assignment, entry.targets = entry.nominated
        entry.message = entry.assignment.message
        entry.workload.last = entry.assignment.last
        entry.tied = len(ties.widths) > before
    victims: dict[str, QueuedWorkload] = {}
    reserved: list[_Reserved] = []
    for entry in ordered(state, tree):
        _process(state, entry, victims, reserved)
    for queue, usage, placements in reserved:
        state.free(queue.node, usage.items())
        state.use_domains(placements, -1)
    return ties


def _undo(state: QueueState, tree: list[CycleEntry]) -> None:
    for entry in tree:
        if entry.outcome is Outcome.ADMITTED:
            state.free(entry.queue.node, entry.assignment.usage.items())
            state.use_domains(entry.assignment.placements.values(), -1)


def _admissible(entry: CycleEntry) -> bool:
    workload = entry.workload
    if workload.name.partition("/")[0] not in entry.queue.namespaces:
        entry.outcome = Outcome.OTHER_NAMESPACE
        entry.message = "workload namespace doesn't match ClusterQueue selector"
    elif workload.refusal:
        entry.outcome = Outcome.REFUSED
        entry.message = workload.refusal
    else:
        return True
    return False


def _nominate(state: QueueState, entry: CycleEntry) -> tuple[FlavorAssignment, list[Victim]]:
    workload, queue = entry.workload, entry.queue
    workload.last = entry.before
    if workload.last is not None and _outdated(workload.last, queue, state.cycle):
        workload.last = None
    if state.fair or (workload.last is not None and workload.last.pending()):
        return _choose(state, workload, queue)
    known = known_tries.known(state, workload, queue)
    if known is not None:
        return known, []
    began = known_tries.moment(workload, queue)
    state.searches = state.looks = False
    found, victims = _choose(state, workload, queue)
    if not victims:
        known_tries.keep(state, workload, queue, began, found)
    return found, victims


def _outdated(last: LastAssignment, queue: SimulatedQueue, cycle: int) -> bool:
    return cycle - last.cycle > 1 and queue.generation > last.generation


def _choose(
    state: QueueState,
    workload: QueuedWorkload,
    queue: SimulatedQueue,
    nominated: Sequence[Mapping[str, str]] | None = None,
) -> tuple[FlavorAssignment, list[Victim]]:
    """The flavors and victims, and the domains that will be free without these victims."""
    found, victims = _pods(state, workload, queue, nominated)
    if found.preempts and found.placing:
        with state.without([it.workload for it in victims]):
            found.placements, _ = state.place(found.placing, empty=not victims)
    return found, victims


def _pods(
    state: QueueState,
    workload: QueuedWorkload,
    queue: SimulatedQueue,
    nominated: Sequence[Mapping[str, str]] | None,
) -> tuple[FlavorAssignment, list[Victim]]:
    """All pods if they fit, perhaps after a preemption; else, with partial admission, as many as fit."""
    complete, victims = _attempt(state, workload, queue, None, nominated)
    if not workload.partial or victims or complete.mode is Mode.FIT:
        return complete, victims
    fewer = _fewer(state, workload, queue, nominated)
    return fewer if fewer is not None else (complete, [])


def _attempt(
    state: QueueState,
    workload: QueuedWorkload,
    queue: SimulatedQueue,
    counts: Sequence[int] | None,
    nominated: Sequence[Mapping[str, str]] | None,
) -> tuple[FlavorAssignment, list[Victim]]:
    found = assign(state, workload, queue, counts, nominated)
    if not found.preempts:
        return found, []
    needs, requested = found.needs(), found.requested()
    if not found.placing and not state.fair:  # with fair sharing, another tie may be taken
        known = found.victims.get((needs, tuple(requested.items())))
        if known is not None:
            return found, known
    preemptor = Preemptor(state, workload, queue, needs, requested, found.placing)
    return found, preemption.targets(preemptor)


def _fewer(
    state: QueueState,
    workload: QueuedWorkload,
    queue: SimulatedQueue,
    nominated: Sequence[Mapping[str, str]] | None,
) -> tuple[FlavorAssignment, list[Victim]] | None:
    """The most pods that fit, by binary search over the sum of what the pod sets can spare."""
    full = [it.count for it in workload.pod_sets]
    spare = [it.count - it.fewest for it in workload.pod_sets]
    total = sum(spare)
    best: dict[int, tuple[FlavorAssignment, list[Victim]]] = {}

    def fits(reduction: int) -> bool:
        counts = [each - less * reduction // total for each, less in zip(full, spare, strict=True)]
        found, victims = _attempt(state, workload, queue, counts, nominated)
        if found.mode is Mode.FIT or victims:
            best[reduction] = found, victims
            return True
        return False

    return best.get(bisect_left(range(total + 1), 1, key=lambda it: int(fits(it))))


def _process(
    state: QueueState,
    entry: CycleEntry,
    victims: dict[str, QueuedWorkload],
    reserved: list[_Reserved],
) -> None:
    """Decide about one entry; earlier entries of the cycle have reserved what they use."""
    if entry.assignment.placements:
        _place_again(state, entry, victims)
    assignment, queue = entry.assignment, entry.queue
    if assignment.mode is Mode.NO_FIT:
        entry.outcome = Outcome.NO_FIT
        return
    if assignment.preempts and not entry.targets:
        entry.outcome = Outcome.NO_CANDIDATES
        if queue.reclaim_within_cohort != ANY:
            _reserve(state, entry, _to_reserve(assignment, queue), reserved)
        return
    if any(it.workload.name in victims for it in entry.targets):
        entry.outcome = Outcome.OVERLAP
        entry.message = "Workload has overlapping preemption targets with another workload"
        return
    merged = {**victims, **{it.workload.name: it.workload for it in entry.targets}}
    if not (_quota_fits(state, entry, merged) and _domains_fit(state, entry, merged)):
        entry.outcome = Outcome.NO_LONGER_FITS
        entry.message = "Workload no longer fits after processing another workload"
        return
    victims.update(merged)
    if not entry.targets:
        entry.outcome = Outcome.ADMITTED
        state.reserve(queue.node, assignment.usage.items())
        state.use_domains(assignment.placements.values())
        return
    entry.outcome = Outcome.PREEMPTING
    _reserve(state, entry, assignment.usage, reserved)
    entry.message += f". Pending the preemption of {len(entry.targets)} workload(s)"
    entry.workload.last = None


def _quota_fits(
    state: QueueState, entry: CycleEntry, leaving: Mapping[str, QueuedWorkload]
) -> bool:
    node = entry.queue.node
    with state.without(list(leaving.values())):
        return all(
            amount <= max(0, node.available(pair))
            for pair, amount in entry.assignment.usage.items()
        )


def _domains_fit(
    state: QueueState, entry: CycleEntry, leaving: Mapping[str, QueuedWorkload]
) -> bool:
    if not entry.assignment.placements:
        return True
    with state.without(list(leaving.values())):
        return all(
            state.topologies[it.flavor].fits(it) for it in entry.assignment.placements.values()
        )


def _place_again(
    state: QueueState, entry: CycleEntry, victims: Mapping[str, QueuedWorkload]
) -> None:
    """Choose again, with the same flavors, if an earlier entry of the cycle took the domains."""
    leaving = {**victims, **{it.workload.name: it.workload for it in entry.targets}}
    if not _quota_fits(state, entry, leaving) or _domains_fit(state, entry, leaving):
        return
    nominated = [
        {name: it.flavor for name, it in each.chosen.items()} for each in entry.assignment.pod_sets
    ]
    entry.workload.last = None
    entry.assignment, entry.targets = _choose(state, entry.workload, entry.queue, nominated)
    entry.message = entry.assignment.message
    entry.workload.last = entry.assignment.last


def _reserve(
    state: QueueState,
    entry: CycleEntry,
    usage: dict[int, int],
    reserved: list[_Reserved],
) -> None:
    """Keep quota from later entries of this cycle."""
    placements = list(entry.assignment.placements.values())
    state.reserve(entry.queue.node, usage.items())
    state.use_domains(placements)
    reserved.append((entry.queue, usage, placements))


def _to_reserve(assignment: FlavorAssignment, queue: SimulatedQueue) -> dict[int, int]:
    node = queue.node
    found: dict[int, int] = {}
    for pair, amount in assignment.usage.items():
        limit = node.borrowing_limit[pair]
        if assignment.height > 0:
            most = amount if limit is None else node.nominal[pair] + limit - node.usage[pair]
            found[pair] = min(amount, most)
        else:
            found[pair] = max(0, min(amount, node.nominal[pair] - node.usage[pair]))
    return found


def _admit(entry: CycleEntry, now: float) -> None:
    workload, assignment = entry.workload, entry.assignment
    workload.admission = Admission(
        pod_sets=tuple(
            PodSetAdmission(
                it.pod_set.name,
                it.count,
                {name: c.flavor for name, c in it.chosen.items()},
                assignment.placements.get(it.pod_set.name),
            )
            for it in assignment.pod_sets
        ),
        usage=tuple(assignment.usage.items()),
        pairs=frozenset(assignment.usage),
        at=now,
    )
    workload.reason = workload.message = ""
    workload.last = None
    entry.queue.workloads[workload.name] = workload
    entry.queue.pending.remove(workload)
    entry.queue.generation += 1


def _requeue(entry: CycleEntry) -> None:
    outcome, strict = entry.outcome, entry.queue.pending.strict
    entry.workload.reason = "Pending"
    entry.workload.message = entry.message
    entry.queue.pending.requeue(
        entry.workload,
        again=outcome is not Outcome.OTHER_NAMESPACE if strict else outcome in _AGAIN,
        no_fit=outcome in (Outcome.NO_FIT, Outcome.NO_CANDIDATES),
        preempting=outcome is Outcome.PREEMPTING,
    )
