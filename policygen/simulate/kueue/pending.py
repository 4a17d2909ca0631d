"""The waiting workloads of one ClusterQueue.

Equal workloads of one namespace are kept together, so that a retry moves them at once.

Source: pkg/cache/queue/cluster_queue.go and inadmissible_workloads.go of Kueue 0.19.2.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from policygen.simulate.kueue.workload import QueuedWorkload

_Key = tuple[int, float, str, str]


class PendingQueue:
    """Workloads that are tried in order, and those that wait until something changes."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self._equals: dict[Any, dict[str, _Equals]] = {}
        """By equivalence and namespace; only those with workloads."""
        self._of: dict[str, _Equals] = {}
        """By the name of the workload."""
        self._first: list[tuple[_Key, int, _Equals]] = []
        """A heap with the first workload of each; entries whose key is not its `first` are stale."""
        self._made = 0
        self.length = 0
        """How many workloads are to be tried."""
        self._hopeless: set[Any] = set()
        """Equivalences of workloads that did not fit since the last retry."""
        self._sticky: str = ""
        """The workload that waits for its victims, and is tried before all others."""
        self.followers: list[Callable[[QueuedWorkload, int], None]] = []
        """They learn of each workload that begins to wait (1), tried or not, or is taken (-1)."""

    def __len__(self) -> int:
        return self.length

    def __contains__(self, workload: QueuedWorkload) -> bool:
        return workload.name in self._of

    @property
    def empty(self) -> bool:
        """Whether it has no workload, tried or not."""
        return not self._of

    @property
    def inadmissible(self) -> dict[str, QueuedWorkload]:
        """The workloads that wait until something changes, by name."""
        return {it.name: it for each in self._all() for it in each.parked}

    def waiting(self) -> list[QueuedWorkload]:
        """The workloads that are tried in order."""
        return [it for each in self._all() for it in each.waiting]

    def samples(self) -> Iterator[tuple[QueuedWorkload, int]]:
        """One of each kind of equal workloads, tried or not, and the number of these."""
        for it in self._all():
            yield next(iter(it.waiting or it.parked)), len(it.waiting) + len(it.parked)

    def push(self, workload: QueuedWorkload) -> None:
        """Queue a new or evicted workload."""
        if not self.strict and workload.equivalence in self._hopeless:
            self._join(workload).parked.add(workload)
        else:
            self._push(workload)

    def push_anyway(self, workload: QueuedWorkload) -> None:
        """Queue a workload of a LocalQueue that is started again, also one that waits for a change."""
        if workload not in self:
            self._push(workload)

    def head(self) -> QueuedWorkload | None:
        """The first workload to try. It stays in the queue until it is requeued or removed."""
        if self._sticky and self._sticky in self._of:
            found = self._of[self._sticky].waiting.find(self._sticky)
            if found is not None:
                return found
        while self._first:
            key, _, equals = self._first[0]
            if key == equals.first:
                return equals.waiting.get(key)
            heapq.heappop(self._first)
        return None

    def remove(self, workload: QueuedWorkload) -> None:
        """Forget a workload that was admitted, finished or deleted."""
        equals = self._of.get(workload.name)
        if equals is not None:
            self._take(workload, equals)
        if self._sticky == workload.name:
            self._sticky = ""

    def requeue(
        self, workload: QueuedWorkload, *, again: bool, no_fit: bool, preempting: bool
    ) -> None:
        """Record that the head was tried and not admitted.

        It is tried again in the next cycle with `again`, or if its scan of flavors has not ended.
        Otherwise it waits until something changes, and with `no_fit` all equivalent workloads wait
        with it.
        """
        if preempting:
            self._sticky = "" if self.strict else workload.name
        if again or (workload.last is not None and workload.last.pending()):
            return
        if no_fit and not self.strict:
            self._hopeless.add(workload.equivalence)
            for equals in self._equals[workload.equivalence].values():
                self.length -= len(equals.waiting)
                equals.parked, equals.waiting = _merged(equals.parked, equals.waiting)
                equals.first = None
            return
        equals = self._of[workload.name]
        equals.waiting.discard(workload.name)
        equals.parked.add(workload)
        self.length -= 1
        self._announce(equals)

    def retry(self, namespaces: frozenset[str]) -> int:
        """Move all inadmissible workloads of these namespaces back into the queue; returns how many."""
        self._hopeless.clear()
        moved = 0
        if len(self._of) == self.length:
            return moved  # nothing is parked
        for equals in self._all():
            count = len(equals.parked)
            if count and equals.namespace in namespaces:
                moved += count
                equals.waiting, equals.parked = _merged(equals.waiting, equals.parked)
                self._announce(equals)
        self.length += moved
        return moved

    def _push(self, workload: QueuedWorkload) -> None:
        equals = self._join(workload)
        if equals.waiting.find(workload.name) is None:
            equals.waiting.add(workload)
            self.length += 1
            self._announce(equals)

    def _all(self) -> "Iterator[_Equals]":
        return (it for each in self._equals.values() for it in each.values())

    def _join(self, workload: QueuedWorkload) -> "_Equals":
        """The workloads that are equal to this one, to which it belongs from now on."""
        found = self._of.get(workload.name)
        if found is None:
            namespace = workload.name.partition("/")[0]
            by_namespace = self._equals.setdefault(workload.equivalence, {})
            found = by_namespace.get(namespace)
            if found is None:
                self._made += 1
                found = by_namespace[namespace] = _Equals(
                    namespace, workload.equivalence, self._made
                )
            self._of[workload.name] = found
            for follow in self.followers:
                follow(workload, 1)
        return found

    def _take(self, workload: QueuedWorkload, equals: "_Equals") -> None:
        """Forget a workload, and what was kept for its equals if it was the last."""
        del self._of[workload.name]
        for follow in self.followers:
            follow(workload, -1)
        if equals.waiting.discard(workload.name):
            self.length -= 1
            self._announce(equals)
        equals.parked.discard(workload.name)
        if not equals.waiting and not equals.parked:
            by_namespace = self._equals[equals.equivalence]
            del by_namespace[equals.namespace]
            if not by_namespace:
                del self._equals[equals.equivalence]

    def _announce(self, equals: "_Equals") -> None:
        """Note which of equal workloads is the first now."""
        first = equals.waiting.first()
        if first != equals.first:
            equals.first = first
            if first is not None:
                heapq.heappush(self._first, (first, equals.number, equals))


class _Ordered:
    """Workloads in the order in which they are tried."""

    __slots__ = ("_by_name", "_heap")

    def __init__(self) -> None:
        self._heap: list[_Key] = []
        """Entries of workloads that have left are stale."""
        self._by_name: dict[str, QueuedWorkload] = {}

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[QueuedWorkload]:
        return iter(self._by_name.values())

    def add(self, workload: QueuedWorkload) -> None:
        self._by_name[workload.name] = workload
        heapq.heappush(self._heap, workload.order)

    def add_all(self, workloads: Iterable[QueuedWorkload]) -> None:
        for it in workloads:
            self.add(it)

    def find(self, name: str) -> QueuedWorkload | None:
        return self._by_name.get(name)

    def get(self, key: _Key) -> QueuedWorkload:
        return self._by_name[key[-1]]

    def discard(self, name: str) -> bool:
        """Remove a workload; false if it is not one of these."""
        return self._by_name.pop(name, None) is not None

    def first(self) -> _Key | None:
        heap = self._heap
        while heap and heap[0][-1] not in self._by_name:
            heapq.heappop(heap)
        return heap[0] if heap else None


class _Equals:
    """Workloads of one namespace that get the same decision."""

    __slots__ = ("equivalence", "first", "namespace", "number", "parked", "waiting")

    def __init__(self, namespace: str, equivalence: Any, number: int) -> None:
        self.namespace = namespace
        self.equivalence = equivalence
        self.number = number
        """Orders those with equal keys."""
        self.waiting = _Ordered()
        self.parked = _Ordered()
        """Those that wait until something changes."""
        self.first: _Key | None = None
        """The first that waits, as far as the queue knows."""


def _merged(one: _Ordered, other: _Ordered) -> tuple[_Ordered, _Ordered]:
    """All workloads of both, and an empty list."""
    large, small = (one, other) if len(one) >= len(other) else (other, one)
    large.add_all(small)
    return large, _Ordered()
