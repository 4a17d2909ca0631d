"""What `explain` answers about a field of a rendered object."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from policygen.core.finding import At, Path, Place, dotted, named
from policygen.explain.lending import Lending
from policygen.explain.meaning import Field
from policygen.explain.step import Step
from policygen.plan.tree import TeamNode, Tree

_LENT = ("nominalQuota", "lendingLimit", "deserved")
_BORROWED = ("borrowingLimit", "capability")


class FieldAnswer(Struct, frozen=True):
    """A field: its value, how it was computed, and what it does."""

    object: str
    """`ClusterQueue nlp.a100`."""
    path: Path
    value: Any
    steps: tuple[Step, ...]
    meaning: Field | None
    """None if a template or a configuration file of the user adds the field."""

    @property
    def places(self) -> tuple[At, ...]:
        """The places in the spec of the values that were read."""
        return tuple(dict.fromkeys(it.at for it in self.steps if it.at is not None))


class Borrowing(Struct, frozen=True):
    """Who can use what a queue leaves idle, or the reverse."""

    lends_to: tuple[str, ...] = ()
    """Teams that may borrow from this one."""
    borrows_from: tuple[str, ...] = ()
    """Teams, or the rest of the pool, from which this one may borrow."""
    reclaims: bool = False
    """Whether a lender may evict the workloads that borrow from it."""


class Origin(Struct, frozen=True):
    """A place in the spec, located."""

    place: Place
    written: bool
    """Whether the spec writes the value; if not, the place is what contains it."""


class Dependents(Struct, frozen=True):
    """The other fields whose arithmetic reads a place of the spec."""

    at: At
    fields: tuple[tuple[str, Path], ...]
    """Objects and paths."""


class ObjectAnswer(Struct, frozen=True, eq=False):
    """Fields of one object; for a single field also what depends on it."""

    object: str
    fields: tuple[FieldAnswer, ...]
    origins: Mapping[At, Origin]
    """Where each place of the fields is."""
    dependents: tuple[Dependents, ...] = ()
    borrowing: Borrowing | None = None


def leaves(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The fields of an object that have a value: scalars, and empty lists and mappings."""
    entries: Iterable[tuple[str | int, Any]] = ()
    if isinstance(data, dict):
        entries = data.items()
    elif isinstance(data, list):
        entries = enumerate(data)
    inside = [it for key, value in entries for it in leaves(value, (*path, key))]
    yield from inside or [(path, data)]


def spellings(data: Any, path: Path) -> tuple[str, str]:
    """A path as text, with the indexes of list entries, and with their names."""
    return dotted(path), dotted(named(data, path))


def borrowing(tree: Tree, node: TeamNode | None, data: Any, path: Path) -> Borrowing | None:
    """Who borrows the amount at a path of a queue; None if the field is no such amount."""
    steps = named(data, path)
    fields = [it for it in steps if it in (*_LENT, *_BORROWED)]
    pool = next((it.name for it in tree.pools if it.name in steps), tree.pools[0].name)
    resource = next((it for it in tree.pools[0].keys if it in steps), None)
    if not fields or resource is None or tree.scheduler == "kube-scheduler":
        return None
    lending = Lending(tree)
    if fields[0] in _LENT:
        found = lending.borrowers(node, pool, resource)
        names = tuple(dict.fromkeys(it.team.name for it in found))
        return Borrowing(lends_to=names, reclaims=node is not None and lending.reclaims)
    if node is None or not node.leaf:
        return None
    lenders = lending.lenders(node, pool, resource)
    return Borrowing(borrows_from=lenders, reclaims=lending.reclaims)
