"""A priority queue as Go's container/heap orders it, also if the order changes while items wait."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class PriorityQueue(Generic[T]):
    """Items, of which `less` tells which one comes first."""

    def __init__(self, less: Callable[[T, T], bool], items: Iterable[T] = ()) -> None:
        self._less = less
        self._items: list[T] = []
        for it in items:
            self.push(it)

    def __len__(self) -> int:
        return len(self._items)

    def push(self, item: T) -> None:
        """Add an item."""
        items = self._items
        items.append(item)
        child = len(items) - 1
        while child > 0:
            parent = (child - 1) // 2
            if not self._less(items[child], items[parent]):
                break
            items[parent], items[child] = items[child], items[parent]
            child = parent

    def pop(self) -> T:
        """Remove the first item."""
        items = self._items
        last = len(items) - 1
        items[0], items[last] = items[last], items[0]
        parent = 0
        while (child := 2 * parent + 1) < last:
            if child + 1 < last and self._less(items[child + 1], items[child]):
                child += 1
            if not self._less(items[child], items[parent]):
                break
            items[parent], items[child] = items[child], items[parent]
            parent = child
        return items.pop()
