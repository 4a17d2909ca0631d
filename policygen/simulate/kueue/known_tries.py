"""Keeps the results of tries of Kueue, so that a try is repeated only after a change on which its result depends.

Whenever quota becomes free, Kueue tries all inadmissible workloads of a cohort again. For most of them,
neither their queue nor what the cohort leaves to it has changed. A workload also fits if an equal one
fitted before and there is still room.
"""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from policygen.simulate.kueue.assignment import FlavorAssignment, Mode
from policygen.simulate.kueue.queue import SimulatedQueue
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.workload import QueuedWorkload

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
    """That of its `Moment`, if it looked for workloads to preempt; else None."""
    loans: int | None
    """That of its `Moment`, if it looked for workloads that borrow; else None."""


class Moment(NamedTuple):
    """When a try began."""

    own: tuple[float, int]
    """When the workload was queued, and the generation of its queue."""
    loans: int
    """`loans` of the root of its queue."""


def moment(workload: QueuedWorkload, queue: SimulatedQueue) -> Moment:
    """The present moment for a workload."""
    return Moment((workload.queued, queue.generation), queue.node.root().loans)


def known(
    state: QueueState, workload: QueuedWorkload, queue: SimulatedQueue
) -> FlavorAssignment | None:
    """What a try finds that begins with the first flavor; None: it is not known."""
    last_try: KnownTry | None = queue.tries.get(workload.equivalence)
    if (
        last_try is None
        or last_try.own not in (None, (workload.queued, queue.generation))
        or last_try.loans not in (None, queue.node.root().loans)
        or last_try.room != _room(queue, last_try.amounts)
    ):
        return None
    found = last_try.found
    if found.last is not None and found.mode is Mode.FIT:
        last = replace(found.last, generation=queue.generation, cycle=state.cycle)
        found = replace(found, last=last)
    return found


def keep(
    state: QueueState,
    workload: QueuedWorkload,
    queue: SimulatedQueue,
    began: Moment,
    found: FlavorAssignment,
) -> None:
    """Keep what a try without victims found, unless its scan of flavors goes on or it chose domains."""
    ended = found.mode is Mode.FIT or found.last is None or not found.last.pending()
    if not ended or found.placing:
        return
    if len(queue.tries) >= _MOST:
        queue.tries.clear()
    amounts = tuple(_amounts(workload, queue))
    queue.tries[workload.equivalence] = KnownTry(
        found,
        amounts,
        _room(queue, amounts),
        began.own if state.searches else None,
        # A search that removes candidates for a while increases loans itself, so it is repeated.
        began.loans if state.looks else None,
    )


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
