"""The objects of one kind, typed, and looked up without a search."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from policygen.core.suggest import Names
from policygen.kubernetes.field_access import Doubts, Roots
from policygen.kubernetes.object import Object, Read

_NO_NAMES = Names()

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Entry(Read, Generic[T], frozen=True, eq=False):
    """An object whose fields could be read; those of them that could not are as if not written."""

    it: T
    """Its fields: those of `spec` and its like, typed."""


class Table(Sequence[Entry[T]]):
    """All objects of a kind in the order of the input; those that could not be read by name only."""

    def __init__(
        self,
        entries: Iterable[Entry[T]] = (),
        unread: Iterable[Object] = (),
        doubts: Doubts | None = None,
    ) -> None:
        self._entries = tuple(entries)
        self._by_name = {
            (it.namespace, it.name): entry for entry in self._entries for it in (entry.object,)
        }
        self._unread = {(it.namespace, it.name): it.at for it in unread}
        self._names: dict[str, Names] | None = None
        self._indexes: dict[Callable[..., Any], tuple[dict[Any, tuple[Entry[T], ...]], Roots]] = {}
        self._doubts = doubts or Doubts()

    def __len__(self) -> int:
        self._look()
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry[T]]:
        self._look()
        return iter(self._entries)

    def __getitem__(self, index: Any) -> Any:
        self._look()
        return self._entries[index]

    @property
    def any(self) -> bool:
        """Whether the input has objects of this kind at all, readable or not."""
        return bool(self._entries or self._unread)

    def get(self, name: str, namespace: str = "") -> Entry[T] | None:
        """The object of a name, if its fields could be read."""
        found = self._by_name.get((namespace, name))
        if found is None and (namespace, name) in self._unread:
            self._doubts.note(self._unread[namespace, name])
        return found

    def knows(self, name: str, namespace: str = "") -> bool:
        """Whether an object of this name exists, readable or not."""
        return (namespace, name) in self._by_name or (namespace, name) in self._unread

    def names(self, namespace: str = "") -> Names:
        """The names in a namespace, readable or not, sorted: for suggestions."""
        if self._names is None:
            found: dict[str, list[str]] = {}
            for within, name in (*self._by_name, *self._unread):
                found.setdefault(within, []).append(name)
            self._names = {within: Names(names) for within, names in found.items()}
        return self._names.get(namespace) or _NO_NAMES

    @property
    def by_namespace(self) -> Mapping[str, tuple[Entry[T], ...]]:
        """The objects by their namespace."""
        return self.by(_namespace)

    def by(self, key: Callable[[Entry[T]], K]) -> Mapping[K, tuple[Entry[T], ...]]:
        """The objects by a key of theirs; made once per function, so pass a named one."""
        if key not in self._indexes:
            self._indexes[key] = self._doubts.during(lambda: self._by(key))
        index, read = self._indexes[key]
        self._doubts.again(read)
        return index

    def _look(self) -> None:
        """Whoever looks at all of them misses those that could not be read."""
        for at in self._unread.values():
            self._doubts.note(at)

    def _by(self, key: Callable[[Entry[T]], K]) -> dict[K, tuple[Entry[T], ...]]:
        lists: dict[K, list[Entry[T]]] = {}
        for entry in self:
            lists.setdefault(key(entry), []).append(entry)
        return {k: tuple(found) for k, found in lists.items()}


def _namespace(entry: Entry[Any]) -> str:
    return entry.namespace
