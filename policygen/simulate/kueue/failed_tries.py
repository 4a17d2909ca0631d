"""Tries that failed, so that none is repeated while nothing has changed on which it depends.

Whenever quota becomes free, Kueue tries all inadmissible workloads of a cohort again. Of most of them,
neither the own queue has changed, nor what the cohort leaves to it.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from policygen.simulate.kueue.assignment import FlavorAssignment, Mode
from policygen.simulate.kueue.queue import SimulatedQueue
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.victims import Victim
from policygen.simulate.kueue.workload import QueuedWorkload

Nomination = tuple[FlavorAssignment, list[Victim]]
_Amounts = tuple[tuple[int, int], ...]


class FailedTry(Struct, frozen=True):
    """Why a workload, and all that equal it, did not fit."""

    found: FlavorAssignment
    amounts: _Amounts
    """The most that it can use of each pair."""
    room: tuple[float, ...]
    """See `_room`."""
    loans: int | None
    """That of the root if the try looked for workloads that borrow; None: others do not matter."""


def nominated(
    state: QueueState,
    workload: QueuedWorkload,
    queue: SimulatedQueue,
    choose: Callable[[QueueState, QueuedWorkload, SimulatedQueue], Nomination],
) -> Nomination:
    """What `choose` finds, with the first flavor as the first that is tried."""
    tries, loans = queue.pending.failed, queue.node.root().loans
    known: FailedTry | None = tries.get(workload.equivalence)
    if (
        known is not None
        and known.loans in (None, loans)
        and known.room == _room(workload, queue, known.amounts)
    ):
        return known.found, []
    state.looks = False
    found, victims = choose(state, workload, queue)
    ended = found.last is None or not found.last.pending()
    if not victims and found.mode is not Mode.FIT and not found.placing and ended:
        amounts = tuple(_amounts(workload, queue))
        room = _room(workload, queue, amounts)
        # If it searched among candidates, their quota was free and lent again, so it will search again.
        others = loans if state.looks else None
        tries[workload.equivalence] = FailedTry(found, amounts, room, others)
    return found, victims


def _amounts(workload: QueuedWorkload, queue: SimulatedQueue) -> Iterator[tuple[int, int]]:
    totals = {"pods": sum(it.count for it in workload.pod_sets)}
    for pod_set in workload.pod_sets:
        for resource, amount in pod_set.requests:
            totals[resource] = totals.get(resource, 0) + amount * pod_set.count
    for resource, amount in totals.items():
        group = queue.group_of.get(resource)
        for flavor in group.flavors if group is not None else ():
            yield flavor.pairs[resource], amount


def _room(workload: QueuedWorkload, queue: SimulatedQueue, amounts: _Amounts) -> tuple[float, ...]:
    """What decides about a try: its place, its queue, and what its cohorts leave to it. More room than it needs is equal.

    Of a root, only what is available counts.
    """
    found = [workload.queued, queue.generation]
    node = queue.node
    cohorts = [it for it in node.ancestors() if it.parent is not None]
    for pair, amount in amounts:
        found.append(min(node.available(pair), amount))
        for it in cohorts:
            left = it.subtree[pair] - it.usage[pair]
            found.append(it.usage[pair] if it.local[pair] else min(left, amount))
    return tuple(found)
