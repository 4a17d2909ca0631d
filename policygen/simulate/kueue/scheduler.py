"""Kueue's scheduler over time: arrivals, ends, evictions and retries.

Source: pkg/controller/{core,jobframework} and pkg/cache of Kueue 0.19.2.
"""

from collections.abc import Container, Iterable

from policygen.simulate.kueue import cycle
from policygen.simulate.kueue.entry import CycleEntry, Outcome
from policygen.simulate.kueue.queue import SimulatedQueue
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.victims import PreemptionReason, Victim
from policygen.simulate.kueue.workload import QueuedWorkload


class Scheduler:
    """Kueue's scheduler with the queues of a state."""

    def __init__(self, state: QueueState) -> None:
        self.state = state
        self._changed: set[QuotaNode] = set()
        """The roots of the trees in which quota became free."""
        self._evicted: dict[str, QueuedWorkload] = {}
        """Those that must leave, by name."""

    def submit(self, workload: QueuedWorkload) -> None:
        """Queue a workload."""
        queue = self.state.queue_of(workload)
        queue.pending.push(workload)
        if queue.inactive:
            workload.reason, workload.message = (
                "Inadmissible",
                f"ClusterQueue {queue.name} is inactive",
            )

    def finish(self, workload: QueuedWorkload) -> None:
        """Remove a workload that has ended or was deleted."""
        self.state.queue_of(workload).pending.remove(workload)
        if workload.admission is not None:
            self._leave(workload)
        else:
            self._note(self.state.queue_of(workload))

    def cycle(self, now: float) -> list[CycleEntry]:
        """Run one cycle, and evict its victims; they hold their quota until `release`."""
        entries = cycle.run(self.state, now)
        for entry in entries:
            if entry.outcome is Outcome.PREEMPTING:
                for target in entry.targets:
                    self._evict(entry, target)
        return entries

    def release(self, workload: QueuedWorkload) -> None:
        """Free the quota of an evicted workload whose pods are gone, and queue it again."""
        self._leave(workload)
        workload.evicted = False
        workload.last = None
        self.submit(workload)

    def changed(self) -> frozenset[QuotaNode]:
        """The roots of the trees in which quota became free since the last call."""
        found = frozenset(self._changed)
        self._changed.clear()
        return found

    def retry(self, roots: Container[QuotaNode]) -> int:
        """Try the inadmissible workloads of these trees again; returns how many there are."""
        return sum(
            it.pending.retry(it.namespaces)
            for it in self.state.queues.values()
            if it.node.root() in roots
        )

    def waits(self) -> bool:
        """Whether an active queue has a workload to try."""
        return any(not it.inactive and len(it.pending) for it in self.state.queues.values())

    def to_try(self) -> int:
        """How many workloads active queues have to try."""
        return sum(len(it.pending) for it in self.state.queues.values() if not it.inactive)

    def evicted(self) -> Iterable[QueuedWorkload]:
        """The workloads that must leave and still hold quota."""
        return list(self._evicted.values())

    def _evict(self, entry: CycleEntry, target: Victim) -> None:
        victim = target.workload
        if victim.evicted:
            return
        queue = self.state.queue_of(victim)
        victim.evicted = True
        self._evicted[victim.name] = victim
        victim.reason = target.reason.value
        victim.message = _message(entry, target.reason, queue)
        queue.generation += 1

    def _leave(self, workload: QueuedWorkload) -> None:
        queue = self.state.queue_of(workload)
        self.state.take_out(workload)
        workload.admission = None
        del queue.workloads[workload.name]
        self._evicted.pop(workload.name, None)
        queue.generation += 1
        self._note(queue)

    def _note(self, queue: SimulatedQueue) -> None:
        self._changed.add(queue.node.root())


def _message(entry: CycleEntry, reason: PreemptionReason, queue: SimulatedQueue) -> str:
    return (
        f"Preempted to accommodate a workload (UID: {entry.workload.uid}, JobUID: UNKNOWN) due to "
        f"{reason.words}; preemptor path: {entry.queue.path}; preemptee path: {queue.path}"
    )
