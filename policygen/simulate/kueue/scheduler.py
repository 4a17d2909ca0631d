"""Kueue's scheduler over time: arrivals, ends, evictions, retries, and changes by people and controllers.

Source: pkg/controller/{core,jobframework} and pkg/cache of Kueue 0.19.2.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence

from policygen.simulate.kueue import cycle
from policygen.simulate.kueue.entry import CycleEntry, Outcome
from policygen.simulate.kueue.queue import HOLD_AND_DRAIN, NONE, SimulatedQueue
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.victims import PreemptionReason, Victim
from policygen.simulate.kueue.workload import QueuedWorkload

READY, RETRY, REJECTED = "Ready", "Retry", "Rejected"
"""States of an admission check."""
_QUEUE_STOPPED, _LOCAL_QUEUE_STOPPED = "ClusterQueueStopped", "LocalQueueStopped"
_STOPPED = {
    _QUEUE_STOPPED: "The ClusterQueue is stopped",
    _LOCAL_QUEUE_STOPPED: "The LocalQueue is stopped",
}
_BY_CHECK, _DEACTIVATED = "AdmissionCheck", "Deactivated"
PODS_READY_TIMEOUT = "PodsReadyTimeout"
"""The reason of evictions of workloads whose pods were not ready in time."""
_TIMED = (PODS_READY_TIMEOUT, _BY_CHECK)
"""Holds that end after a time."""


class Scheduler:
    """Kueue's scheduler with the queues of a state."""

    def __init__(self, state: QueueState) -> None:
        self.state = state
        self._queues = tuple(state.queues.values())
        self._changed: set[QuotaNode] = set()
        """The roots of the trees in which quota became free."""
        self._freed: set[QuotaNode] = set()
        """The roots of the trees with a topology in which nodes have more room."""
        self._evicted: dict[str, QueuedWorkload] = {}
        """Those that must leave, by name."""
        self._known: dict[str, QueuedWorkload] = {}
        """Those that were submitted and have not ended, by name."""
        self._due: list[tuple[float, str]] = []
        """A heap of times at which something may be due for a workload."""

    def adopt(self, workload: QueuedWorkload, *, ready: bool = True) -> None:
        """Take over a workload that holds quota. `ready` says whether all its pods are, if no check is pending.

        Otherwise its time to get ready counts from its admission. If that time has passed, it was not evicted
        for a reason that is not known, and the time counts from the start.
        """
        self._known[workload.name] = workload
        self.state.put_back(workload)
        self.state.queue_of(workload).workloads[workload.name] = workload
        workload.assigned = True
        workload.ready = ready and not workload.pending_checks
        if workload.admission is not None and not workload.pending_checks:
            workload.admitted_at = workload.admission.at
            rule = self.state.pods_ready
            if rule is not None and not ready:
                due = workload.admission.at + rule.timeout
                self._remember(due if due > 0 else rule.timeout, workload)
            self._limit_time(workload, workload.admission.at)

    def begin(self, now: float) -> None:
        """Do what follows from the stop policies for workloads that are admitted from the start."""
        for it in self._sorted():
            self._reconcile(it, now)

    def submit(self, workload: QueuedWorkload) -> None:
        """Queue a workload. Without its queues, or deactivated, it only waits; its message has the reason."""
        if workload.retry_at is not None and workload.name not in self._known:
            self._remember(workload.retry_at, workload)  # Kueue evicted it before the start
        self._known[workload.name] = workload
        queue = self._queue_if_open(workload)
        if queue is not None and workload.active:
            workload.assigned = True
            if not workload.hold:
                queue.pending.push(workload)
        self._explain(workload)

    def finish(self, workload: QueuedWorkload, now: float | None = None) -> None:
        """Remove a workload that has ended or was deleted."""
        self._known.pop(workload.name, None)
        queue = self._queue_if_known(workload)
        if queue is None:
            return
        queue.pending.remove(workload)
        if workload.admission is not None:
            self._leave(workload, now)
        else:
            self._note(workload)

    def cycle(self, now: float) -> list[CycleEntry]:
        """Run one cycle, and evict its victims; they hold their quota until `release`."""
        entries = cycle.run(self.state, now)
        for entry in entries:
            if entry.outcome is Outcome.PREEMPTING:
                for target in entry.targets:
                    self._preempt(entry, target)
            elif entry.outcome is Outcome.ADMITTED:
                self._reserved(entry.workload, entry.queue, now)
        return entries

    def release(self, workload: QueuedWorkload, now: float | None = None) -> None:
        """Free the quota of an evicted workload whose pods are gone, and queue it again."""
        self._leave(workload, now)
        workload.evicted = False
        workload.last = None
        if workload.hold in _TIMED and workload.retry_at is None:
            workload.hold = ""
        self.submit(workload)

    def changed(self) -> set[QuotaNode]:
        """The roots of the trees in which quota became free since the last call."""
        found, self._changed = self._changed, set()
        return found

    def freed(self) -> set[QuotaNode]:
        """The roots of the trees for which nodes of a topology have more room since the last call."""
        found, self._freed = self._freed, set()
        return found

    def hold(self, node: str, amounts: Sequence[tuple[str, int]], sign: int) -> None:
        """A pod that Kueue did not place runs on a node of a topology, or with the sign -1 ends."""
        flavors = self.state.hold(node, amounts, sign)
        if sign < 0 and flavors:
            queues = self.state.queues.values()
            self._freed |= {it.node.root() for it in queues if it.flavors() & flavors}

    def retry(self, roots: Iterable[QuotaNode]) -> int:
        """Try the inadmissible workloads of these trees again; returns how many there are."""
        moved = 0
        for root in roots:
            for node in (root,) if root.is_queue else root.queues():
                queue = self.state.of_node[node]
                moved += queue.pending.retry(queue.namespaces)
        return moved

    def waits(self) -> bool:
        """Whether an active queue has a workload to try."""
        return self.to_try() > 0

    def to_try(self) -> int:
        """How many workloads active queues have to try."""
        return sum(
            [
                queue.pending.length
                for queue in self._queues
                if queue.pending.length and not queue.inactive
            ]
        )

    @property
    def leaving(self) -> int:
        """How many workloads must leave."""
        return len(self._evicted)

    def evicted(self) -> list[QueuedWorkload]:
        """The workloads that must leave and still hold quota."""
        return list(self._evicted.values())

    def ready(self, workload: QueuedWorkload) -> None:
        """All pods of an admitted workload are ready. Kueue learns it only if it waits for pods."""
        if workload.admitted_at is not None and self.state.pods_ready is not None:
            workload.ready = True
            self.state.queue_of(workload).generation += 1

    def check(
        self,
        workload: QueuedWorkload,
        name: str,
        state: str,
        now: float,
        *,
        retry_after: float | None = None,
    ) -> None:
        """An admission check for which a workload waits changes its state.

        After Retry, Kueue evicts the workload; if the check asks to wait, only after that time.
        """
        retrying = workload.retry_at is not None and workload.retrying == name
        if name not in workload.pending_checks or workload.evicted or retrying:
            return
        self.state.queue_of(workload).generation += 1
        if state == READY:
            workload.pending_checks -= {name}
            if not workload.pending_checks:
                self._admitted(workload, now)
        elif workload.retry_at is not None:
            if state == REJECTED:  # until then, Kueue does not look at it
                workload.rejecting = name
        elif state == REJECTED:
            self._reject(workload, name)
        elif retry_after:
            workload.retry_at = now + retry_after
            workload.retrying = name
            self._remember(workload.retry_at, workload)
        else:
            self._evict_by_check(workload, name, now)

    def set_active(self, workload: QueuedWorkload, *, active: bool) -> None:
        """Somebody changes spec.active."""
        if workload.active == active:
            return
        if workload.expired:
            workload.assigned |= self._queue_if_open(workload) is not None
            self._note(workload)  # Kueue deactivates it at once, and takes that for an end
            return
        workload.active = active
        if not active:
            self._deactivated(workload, _DEACTIVATED, "The workload is deactivated")
        elif workload.admission is None:
            if workload.hold in (_DEACTIVATED, *_TIMED):
                workload.hold = ""  # the deactivation has ended the time to wait
            self.submit(workload)

    def stop_queue(self, name: str, policy: str, now: float) -> None:
        """Somebody changes the stop policy of a ClusterQueue."""
        queue = self.state.queues[name]
        queue.stop_policy = policy
        queue.generation += 1
        queue.node.root().loans += 1
        self._changed.add(queue.node.root())
        for it in self._sorted():
            if self._queue_if_known(it) is queue:
                self._reconcile(it, now)

    def stop_local_queue(self, name: str, policy: str, now: float) -> None:
        """Somebody changes the stop policy of a LocalQueue, given by namespace and name."""
        before = self.state.stopped.pop(name, NONE)
        if policy != NONE:
            self.state.stopped[name] = policy
        if policy == before:
            return
        for it in self._sorted():
            if it.queue != name:
                continue
            queue = self._queue_if_known(it)
            if queue is None:
                self._explain(it)
                continue
            it.assigned |= policy == NONE
            if policy != NONE:
                queue.pending.remove(it)
            elif before != NONE and it.admission is None and it.active:
                it.last = None
                queue.pending.push_anyway(it)  # whatever it waited for
            self._reconcile(it, now)

    def tick(self, now: float) -> bool:
        """Do what is due: the ends of waits, and of the time for pods to be ready or to run.

        Returns whether anything was due.
        """
        names, changes = set(), False
        while self._due and self._due[0][0] <= now:
            names.add(heapq.heappop(self._due)[1])
        for name in sorted(names):
            workload = self._known.get(name)
            if workload is not None and not workload.evicted and self._is_due(workload, now):
                self._tick(workload, now)
                changes = True
        return changes

    def next_time(self) -> float | None:
        """When `tick` may have something to do."""
        while self._due:
            at, name = self._due[0]
            workload = self._known.get(name)
            if workload is not None and self._is_due(workload, at):
                return at
            heapq.heappop(self._due)  # it was ready in time, or left before
        return None

    def _is_due(self, workload: QueuedWorkload, now: float) -> bool:
        """Whether a wait of a workload is over."""
        if workload.retry_at is not None and workload.retry_at <= now:
            return True
        return self._is_late(workload, now) or _has_run(workload, now)

    def _is_late(self, workload: QueuedWorkload, now: float) -> bool:
        """Whether the pods of an admitted workload were not ready in time."""
        rule, since = self.state.pods_ready, workload.admitted_at
        if rule is None or since is None or workload.ready:
            return False
        return now - since >= rule.timeout

    def where(self, workload: QueuedWorkload) -> str:
        """Where a workload waits: "heap", "inadmissible", or "" if it is in no queue."""
        queue = self._queue_if_open(workload)
        if queue is None or not workload.active:
            return ""
        if workload.name in queue.pending.inadmissible or workload not in queue.pending:
            return "inadmissible"
        return "heap"

    def _sorted(self) -> list[QueuedWorkload]:
        return [self._known[it] for it in sorted(self._known)]

    def _queue_if_known(self, workload: QueuedWorkload) -> SimulatedQueue | None:
        name = self.state.local_queues.get(workload.queue)
        return self.state.queues.get(name) if name is not None else None

    def _queue_if_open(self, workload: QueuedWorkload) -> SimulatedQueue | None:
        """Its ClusterQueue; None if it does not exist or the LocalQueue is stopped."""
        return None if workload.queue in self.state.stopped else self._queue_if_known(workload)

    def _explain(self, workload: QueuedWorkload) -> None:
        """Write why its queues do not take it, if so."""
        words = self._blocker(workload)
        if words and workload.retry_at is None:
            workload.reason, workload.message = "Inadmissible", words

    def _blocker(self, workload: QueuedWorkload) -> str:
        local = workload.queue.partition("/")[2]
        name = self.state.local_queues.get(workload.queue)
        if name is None:
            return f"LocalQueue {local} doesn't exist"
        if workload.queue in self.state.stopped:
            return f"LocalQueue {local} is inactive"
        if name not in self.state.queues:
            return f"ClusterQueue {name} doesn't exist"
        return f"ClusterQueue {name} is inactive" if self.state.queues[name].inactive else ""

    def _reserved(self, workload: QueuedWorkload, queue: SimulatedQueue, now: float) -> None:
        """It got quota. It is admitted once its checks are ready."""
        workload.behind = None
        workload.hold = ""
        workload.retry_at = None
        workload.pending_checks = frozenset(cycle.checks_of(workload, queue))
        if not workload.pending_checks:
            self._admitted(workload, now)

    def _admitted(self, workload: QueuedWorkload, now: float) -> None:
        workload.admitted_at = now
        workload.ready = False
        if self.state.pods_ready is not None:
            self._remember(now + self.state.pods_ready.timeout, workload)
        self._limit_time(workload, now)

    def _limit_time(self, workload: QueuedWorkload, admitted: float) -> None:
        if workload.maximum_execution is not None:
            self._remember(admitted + workload.maximum_execution - workload.executed, workload)

    def _remember(self, at: float, workload: QueuedWorkload) -> None:
        heapq.heappush(self._due, (at, workload.name))

    def _tick(self, workload: QueuedWorkload, now: float) -> None:
        if workload.retry_at is not None and workload.retry_at <= now:
            workload.retry_at = None
            if workload.admission is not None and workload.rejecting:
                self._reject(workload, workload.rejecting)
            elif workload.admission is not None:
                self._evict_by_check(workload, workload.retrying, now)
            elif workload.hold in _TIMED:
                workload.hold = ""
                self.submit(workload)
            return
        if self._is_late(workload, now):
            self._not_ready(workload, now)
        if _has_run(workload, now):
            workload.executed = 0.0
            workload.expired = True
            words = "exceeding the maximum execution time"
            if workload.active:
                self._deactivate(workload, "MaximumExecutionTimeExceeded", words)

    def _not_ready(self, workload: QueuedWorkload, now: float) -> None:
        rule = self.state.pods_ready
        if rule is None:
            return
        if rule.limit is not None and workload.requeues >= rule.limit:
            words = "exceeding the maximum number of re-queuing retries"
            self._deactivate(workload, "RequeuingLimitExceeded", words)
            return
        workload.requeues += 1
        workload.retry_at = now + rule.wait(workload.requeues)
        self._remember(workload.retry_at, workload)
        self._evict(workload, PODS_READY_TIMEOUT, f"Exceeded the PodsReady timeout {workload.name}")
        if rule.behind:
            workload.behind = now

    def _reject(self, workload: QueuedWorkload, name: str) -> None:
        words = f'AdmissionCheck in {REJECTED} state: "{name}"'
        self._deactivate(workload, _BY_CHECK, words)

    def _evict_by_check(self, workload: QueuedWorkload, name: str, now: float) -> None:
        words = f'Evicted due to AdmissionCheck in {RETRY} state: "{name}"'
        self._evict(workload, _BY_CHECK, words)
        workload.behind = now

    def _deactivate(self, workload: QueuedWorkload, cause: str, words: str) -> None:
        """Kueue itself sets spec.active to false."""
        workload.active = False
        words = f"The workload is deactivated due to {words}"
        self._deactivated(workload, f"{_DEACTIVATED}DueTo{cause}", words)

    def _deactivated(self, workload: QueuedWorkload, reason: str, words: str) -> None:
        workload.requeues = 0
        workload.retry_at = None
        if workload.admission is not None:
            if not workload.evicted:
                self._evict(workload, reason, words)
            return
        queue = self._queue_if_open(workload)
        if queue is not None:
            queue.pending.remove(workload)
            self._note(workload)
        self._explain(workload)

    def _reconcile(self, workload: QueuedWorkload, now: float) -> None:
        """Do what follows from the stop policies of its queues. Until `retry_at`, Kueue does not look at it."""
        if workload.retry_at is not None or workload.evicted:
            return
        stops = list(self._stops(workload))
        if workload.admission is None:
            if workload.hold in _STOPPED and not any(
                reason == workload.hold for reason, _ in stops
            ):
                workload.hold = ""
                self.submit(workload)
            self._explain(workload)
        elif workload.admitted_at is None and stops:
            self._leave(workload, now)
            workload.last = None
            self.submit(workload)
        for reason, policy in stops:
            if workload.admitted_at is not None and policy == HOLD_AND_DRAIN:
                self._evict(workload, reason, _STOPPED[reason])
                return

    def _stops(self, workload: QueuedWorkload) -> Iterator[tuple[str, str]]:
        """The reasons and policies of its queues that are stopped.

        Kueue does not find the ClusterQueue of a LocalQueue that is stopped.
        """
        policy = self.state.stopped.get(workload.queue, NONE)
        queue = self._queue_if_known(workload)
        if policy != NONE:
            yield _LOCAL_QUEUE_STOPPED, policy
        elif queue is not None and queue.stop_policy != NONE:
            yield _QUEUE_STOPPED, queue.stop_policy

    def _evict(self, workload: QueuedWorkload, reason: str, words: str) -> None:
        workload.evicted = True
        workload.hold = workload.reason = reason
        workload.message = words
        self._evicted[workload.name] = workload
        self.state.queue_of(workload).generation += 1

    def _preempt(self, entry: CycleEntry, target: Victim) -> None:
        victim = target.workload
        if victim.evicted:
            return
        queue = self.state.queue_of(victim)
        self._evict(victim, target.reason.value, _message(entry, target.reason, queue))
        victim.hold = ""
        victim.retry_at = None

    def _leave(self, workload: QueuedWorkload, now: float | None) -> None:
        queue = self.state.queue_of(workload)
        self.state.take_out(workload)
        workload.admission = None
        if workload.admitted_at is not None and now is not None:
            workload.executed += int(now - workload.admitted_at)
        workload.admitted_at = None
        workload.ready = False
        workload.pending_checks = frozenset()
        workload.rejecting = ""
        del queue.workloads[workload.name]
        self._evicted.pop(workload.name, None)
        queue.generation += 1
        self._note(workload)

    def _note(self, workload: QueuedWorkload) -> None:
        """Try others again, because a workload left. Kueue does not notice it while its LocalQueue is stopped."""
        queue = self._queue_if_open(workload)
        if queue is not None and workload.assigned:
            self._changed.add(queue.node.root())


def _has_run(workload: QueuedWorkload, now: float) -> bool:
    """Whether an admitted workload has run for its maximum execution time."""
    most, since = workload.maximum_execution, workload.admitted_at
    return most is not None and since is not None and now - since + workload.executed >= most


def _message(entry: CycleEntry, reason: PreemptionReason, queue: SimulatedQueue) -> str:
    return (
        f"Preempted to accommodate a workload (UID: {entry.workload.uid}, JobUID: UNKNOWN) due to "
        f"{reason.words}; preemptor path: {entry.queue.path}; preemptee path: {queue.path}"
    )
