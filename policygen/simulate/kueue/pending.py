"""The waiting workloads of one ClusterQueue.

Source: pkg/cache/queue/cluster_queue.go and inadmissible_workloads.go of Kueue 0.19.2.
"""

import heapq

from policygen.simulate.kueue.workload import QueuedWorkload


class PendingQueue:
    """Workloads that are tried in order, and those that wait until something changes."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self._heap: list[tuple[int, float, str, str]] = []
        self._waiting: dict[str, QueuedWorkload] = {}
        """Those of the heap by name; entries of others in the heap are stale."""
        self.inadmissible: dict[str, QueuedWorkload] = {}
        self._hopeless: set[object] = set()
        """Equivalences of workloads that did not fit since the last retry."""
        self._sticky: str = ""
        """The workload that waits for its victims, and is tried before all others."""

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, workload: QueuedWorkload) -> bool:
        return workload.name in self._waiting or workload.name in self.inadmissible

    def waiting(self) -> list[QueuedWorkload]:
        """The workloads that are tried in order."""
        return list(self._waiting.values())

    def push(self, workload: QueuedWorkload) -> None:
        """Queue a new or evicted workload."""
        if not self.strict and workload.equivalence in self._hopeless:
            self.inadmissible[workload.name] = workload
        else:
            self._push(workload)

    def pop(self) -> QueuedWorkload | None:
        """Take the first workload."""
        if self._sticky in self._waiting:
            return self._waiting.pop(self._sticky)
        while self._heap:
            name = heapq.heappop(self._heap)[-1]
            found = self._waiting.pop(name, None)
            if found is not None:
                return found
        return None

    def remove(self, workload: QueuedWorkload) -> None:
        """Forget a workload that was admitted, finished or deleted."""
        self._waiting.pop(workload.name, None)
        self.inadmissible.pop(workload.name, None)
        if self._sticky == workload.name:
            self._sticky = ""

    def requeue(
        self, workload: QueuedWorkload, *, again: bool, no_fit: bool, preempting: bool
    ) -> None:
        """Put a workload back that was tried and not admitted.

        It is tried again in the next cycle with `again`, or if its scan of flavors has not ended.
        Otherwise it waits until something changes, and with `no_fit` all equivalent workloads wait
        with it.
        """
        if preempting:
            self._sticky = "" if self.strict else workload.name
        if again or (workload.last is not None and workload.last.pending()):
            self._push(workload)
            return
        self.inadmissible[workload.name] = workload
        if no_fit and not self.strict:
            self._hopeless.add(workload.equivalence)
            for other in self.waiting():
                if other.equivalence == workload.equivalence:
                    del self._waiting[other.name]
                    self.inadmissible[other.name] = other

    def retry(self, namespaces: frozenset[str]) -> int:
        """Move all inadmissible workloads of these namespaces back into the queue; returns how many."""
        self._hopeless.clear()
        moved = [it for it in self.inadmissible.values() if _namespace(it) in namespaces]
        for workload in moved:
            del self.inadmissible[workload.name]
            self._push(workload)
        return len(moved)

    def _push(self, workload: QueuedWorkload) -> None:
        if workload.name not in self._waiting:
            self._waiting[workload.name] = workload
            entry = (-workload.priority, workload.created, workload.uid, workload.name)
            heapq.heappush(self._heap, entry)


def _namespace(workload: QueuedWorkload) -> str:
    return workload.name.partition("/")[0]
