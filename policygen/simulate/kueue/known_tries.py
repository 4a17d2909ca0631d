"""Keeps the results of tries of Kueue, so that a try is repeated only after a change on which its result depends.

Whenever quota becomes free, Kueue tries all inadmissible workloads of a cohort again. For most of them,
neither their queue nor what the cohort leaves to it has changed. A workload also fits if an equal one
fitted before and there is still room.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from policygen.simulate.kueue.assignment import FlavorAssignment, Mode
from policygen.simulate.kueue.queue import SimulatedQueue
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.victims import Victim
from policygen.simulate.kueue.workload import QueuedWorkload

Nomination = tuple[FlavorAssignment, list[Victim]]
_Amounts = tuple[tuple[int, int], ...]
_MOST = 1_000
"""The most tries that are kept for one queue."""


class KnownTry(Struct, frozen=True):
    """What became of a workload without victims, and so becomes of all that equal it."""

    found: FlavorAssignment
    amounts: _Amounts
    """The most that it can use of each pair."""
    room: tuple[int, ...]
    """See `_room`."""
    own: tuple[float, int] | None
    """When the workload was queued, and the generation of its queue, if it looked for workloads to preempt; else None."""
    loans: int | None
    """`loans` of the root of its queue, if it looked for workloads that borrow; else None."""


def nominated(
    state: QueueState,
    workload: QueuedWorkload,
    queue: SimulatedQueue,
    choose: Callable[[QueueState, QueuedWorkload, SimulatedQueue], Nomination],
) -> Nomination:
    """What `choose` finds, with the first flavor as the first that is tried."""
    own, loans = (workload.queued, queue.generation), queue.node.root().loans
    known: KnownTry | None = queue.tries.get(workload.equivalence)
    if (
        known is not None
        and known.own in (None, own)
        and known.loans in (None, loans)
        and known.room == _room(queue, known.amounts)
    ):
        found = known.found
        if found.last is not None and found.mode is Mode.FIT:
            last = replace(found.last, generation=queue.generation, cycle=state.cycle)
            found = replace(found, last=last)
        return found, []
    state.searches = state.looks = False
    found, victims = choose(state, workload, queue)
    ended = found.mode is Mode.FIT or found.last is None or not found.last.pending()
    if ended and not victims and not found.placing:
        if len(queue.tries) >= _MOST:
            queue.tries.clear()
        amounts = tuple(_amounts(workload, queue))
        queue.tries[workload.equivalence] = KnownTry(
            found,
            amounts,
            _room(queue, amounts),
            own if state.searches else None,
            # A search that removes candidates for a while increases loans itself, so it is repeated.
            loans if state.looks else None,
        )
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


def _room(queue: SimulatedQueue, amounts: _Amounts) -> tuple[int, ...]:
    """For each pair: what is available to the queue, and how far the queue and its cohorts below the root are from their quota.

    Amounts above the request count as equal to it.
    """
    found = []
    for pair, amount in amounts:
        node = queue.node
        found.append(min(node.available(pair), amount))
        while node.parent is not None:
            used = node.usage[pair]
            left = node.subtree[pair] - used
            found.append(used if node.local[pair] else min(max(left, -1), amount))
            node = node.parent
    return tuple(found)
