"""The typed objects of one kind, with indexes."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from policygen.core.suggest import Names
from policygen.kubernetes.field_access import AccessLog, Roots
from policygen.kubernetes.object import Object, Read

_NO_NAMES = Names()

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Entry(Read, Generic[T], frozen=True, eq=False):
    """An object and its typed fields. Invalid fields are read as missing."""

    fields: T
    """Its typed fields, such as those of `spec`."""


class Table(Sequence[Entry[T]]):
    """All objects of a kind, in the order of the input. Of an unreadable object only the name is known."""

    def __init__(
        self,
        entries: Iterable[Entry[T]] = (),
        unread: Iterable[Object] = (),
        accesses: AccessLog | None = None,
    ) -> None:
        self._entries = tuple(entries)
        self._by_name = {
            (it.namespace, it.name): entry for entry in self._entries for it in (entry.object,)
        }
        self._unread = {(it.namespace, it.name): it.at for it in unread}
        self._names: dict[str, Names] | None = None
        self._indexes: dict[Callable[..., Any], tuple[dict[Any, tuple[Entry[T], ...]], Roots]] = {}
        self._accesses = accesses or AccessLog()

    def __len__(self) -> int:
        self._note_unread()
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry[T]]:
        self._note_unread()
        return iter(self._entries)

    def __getitem__(self, index: Any) -> Any:
        self._note_unread()
        return self._entries[index]

    @property
    def any(self) -> bool:
        """Whether the input has objects of this kind, readable or not."""
        return bool(self._entries or self._unread)

    def get(self, name: str, namespace: str = "") -> Entry[T] | None:
        """The object with this name; None if it does not exist or is unreadable."""
        found = self._by_name.get((namespace, name))
        if found is None and (namespace, name) in self._unread:
            self._accesses.note(self._unread[namespace, name])
        return found

    def knows(self, name: str, namespace: str = "") -> bool:
        """Whether an object of this name exists, readable or not, or one that lacks its name."""
        keys = (namespace, name), (namespace, "")
        return any(it in self._by_name or it in self._unread for it in keys)

    def names(self, namespace: str = "") -> Names:
        """The names in a namespace for suggestions, including those of unreadable objects."""
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
        """The objects by a key. The index is built once per function, so pass a function with a name."""
        if key not in self._indexes:
            self._indexes[key] = self._accesses.recorded(lambda: self._by(key))
        index, read = self._indexes[key]
        self._accesses.repeat(read)
        return index

    def _note_unread(self) -> None:
        """Record that a rule that reads all objects misses the unreadable ones."""
        for at in self._unread.values():
            self._accesses.note(at)

    def _by(self, key: Callable[[Entry[T]], K]) -> dict[K, tuple[Entry[T], ...]]:
        lists: dict[K, list[Entry[T]]] = {}
        for entry in self:
            lists.setdefault(key(entry), []).append(entry)
        return {k: tuple(found) for k, found in lists.items()}


def _namespace(entry: Entry[Any]) -> str:
    return entry.namespace
