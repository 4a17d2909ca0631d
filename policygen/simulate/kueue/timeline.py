"""Kueue's decisions over time: jobs arrive, run, end, and are preempted.

Times are seconds. A scheduling cycle takes no time, and the pods of a victim end at once.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from policygen.simulate.kueue.entry import CycleEntry, Outcome
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.kueue.workload import Admission, QueuedWorkload

RETRY_AFTER_S = 1.0
"""Kueue collects changes so long before it tries inadmissible workloads again (requeueBatchPeriod)."""


@dataclass(slots=True, eq=False)
class Job:
    """A workload that arrives when it was created, and runs for a time."""

    workload: QueuedWorkload
    duration: float
    """How long it must run without an interruption."""
    started: float | None = None
    """When it was admitted for the first time."""
    ended: float | None = None
    waited: float = 0.0
    """The time in which it was not admitted, until it ended or the simulation did."""
    preempted: int = 0
    """How often it was preempted; it begins again each time."""
    lost: float = 0.0
    """The time that it ran for nothing."""
    _since: float = field(default=0.0, init=False)

    def admitted(self, now: float) -> None:
        """It starts, or starts again."""
        if self.started is None:
            self.started = now
        self.waited += now - self._since
        self._since = now

    def evicted(self, now: float) -> None:
        """It has to begin again."""
        self.preempted += 1
        self.lost += now - self._since
        self._since = now

    def arrived(self, now: float) -> None:
        """It begins to wait."""
        self._since = now


class _Event(IntEnum):
    """What happens at a time; at equal times in this order."""

    END = 0
    ARRIVAL = 1
    RETRY = 2


class Timeline:
    """Runs a scheduler over time."""

    def __init__(self, scheduler: Scheduler, jobs: Iterable[Job]) -> None:
        self.scheduler = scheduler
        self.jobs = {it.workload.name: it for it in jobs}
        self.livelocked: set[str] = set()
        """Workloads that preempted each other again and again at one time."""
        self.now = 0.0
        self.cycles = 0
        self._events: list[tuple[float, _Event, str, object]] = [
            (it.workload.created, _Event.ARRIVAL, name, None) for name, it in self.jobs.items()
        ]
        heapq.heapify(self._events)
        self._retries: set[QuotaNode] = set()

    def run(self) -> Iterator[float]:
        """Run until nothing happens any more; yields each time at which something happened."""
        while self._events:
            self.now = self._events[0][0]
            while self._events and self._events[0][0] <= self.now:
                self._happens(*heapq.heappop(self._events)[1:])
            self._schedule()
            yield self.now

    def _happens(self, what: _Event, name: str, about: object) -> None:
        if what is _Event.RETRY:
            roots = {it for it in self._retries if it.name == name}
            self._retries -= roots
            self.scheduler.retry(roots)
            return
        job = self.jobs[name]
        if what is _Event.ARRIVAL:
            job.arrived(self.now)
            self.scheduler.submit(job.workload)
        elif job.workload.admission is about:
            job.ended = self.now
            self.scheduler.finish(job.workload)

    def _schedule(self) -> None:
        """Run cycles until nothing more can be admitted at this time."""
        seen: set[frozenset[str]] = set()
        quiet = 0
        while quiet <= self._longest_scan and self.scheduler.waits():
            self.cycles += 1
            entries = self.scheduler.cycle(self.now)
            if not self._apply(entries):
                quiet += 1
                continue
            quiet = 0
            if any(it.outcome is Outcome.PREEMPTING for it in entries):
                admitted = frozenset(
                    name
                    for queue in self.scheduler.state.queues.values()
                    for name in queue.workloads
                )
                if admitted in seen:
                    self.livelocked |= {
                        it.workload.name for it in entries if it.outcome is Outcome.PREEMPTING
                    }
                    break
                seen.add(admitted)
        for root in self.scheduler.changed() - self._retries:
            self._retries.add(root)
            heapq.heappush(self._events, (self.now + RETRY_AFTER_S, _Event.RETRY, root.name, None))

    @property
    def _longest_scan(self) -> int:
        """So many cycles without an admission can pass while a workload tries one flavor after the other."""
        return max(
            (
                len(it.flavors)
                for queue in self.scheduler.state.queues.values()
                for it in queue.groups
            ),
            default=0,
        )

    def _apply(self, entries: list[CycleEntry]) -> bool:
        """Start what was admitted, and stop what was evicted; false if there is neither."""
        done = False
        for entry in entries:
            if entry.outcome is Outcome.ADMITTED:
                done = True
                self._start(self.jobs[entry.workload.name], entry.workload.admission)
            elif entry.outcome is Outcome.PREEMPTING:
                done = True
        for victim in self.scheduler.evicted():
            self.jobs[victim.name].evicted(self.now)
            self.scheduler.release(victim)
        return done

    def _start(self, job: Job, admission: Admission | None) -> None:
        job.admitted(self.now)
        event = (self.now + job.duration, _Event.END, job.workload.name, admission)
        heapq.heappush(self._events, event)
