"""An object while it gets fields: what it has stays, and a different value is a contradiction."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from msgspec import Struct

from policygen.core import quantity
from policygen.core.finding import Path, at_path, dotted
from policygen.core.quoting import shown
from policygen.kubernetes.object import Object

Equal = Callable[[Any, Any], bool]


class Contradiction(Struct, frozen=True):
    """A value of an object that contradicts what its model needs."""

    path: Path
    reason: str
    remedy: str
    brief: str = ""
    """The reason in a list of several ones, if it can be shorter."""
    needed: Any = None
    """The value that is needed, if only one is possible."""

    @property
    def message(self) -> str:
        """Reason and remedy."""
        return f"{self.reason}; {self.remedy}" if self.remedy else self.reason


class Draft:
    """The data of an object with added fields, and why some could not be added."""

    def __init__(self, object_: Object, who: str) -> None:
        """`who` needs the fields, in messages: `pods of model "segmenter"`."""
        self.data = deepcopy(object_.data)
        self._faults: dict[Path, Contradiction] = {}
        self._who = who

    @property
    def faults(self) -> tuple[Contradiction, ...]:
        """The contradictions."""
        return tuple(self._faults.values())

    def value(self, path: Path) -> Any:
        """The value at a path; None if it is missing."""
        return at_path(self.data, path)

    def refuse(
        self, path: Path, reason: str, remedy: str = "", brief: str = "", needed: Any = None
    ) -> None:
        """Add a contradiction at a path, instead of an earlier one."""
        self._faults[path] = Contradiction(path, reason, remedy, brief, needed)

    def add(self, path: Path, value: Any, equal: Equal = lambda one, other: one == other) -> None:
        """Set a field if it is missing. A contradiction if it has another value, or no place."""
        found = self.value(path)
        if found is None:
            parent = self._parent(path[:-1])
            if parent is not None:
                parent[f"{path[-1]}"] = value
        elif not equal(found, value):
            self.refuse(
                path,
                f"{dotted(path)} is {shown(found)}, but {self._who} need {shown(value)}",
                f"write {shown(value)}, or remove the field so that patch can write it",
                f"{dotted(path)} is {shown(found)} instead of {shown(value)}",
                value,
            )

    def append(self, path: Path, entry: Any) -> None:
        """Add an entry to a list, which may be missing."""
        found = self.value(path)
        if isinstance(found, list):
            found.append(entry)
        else:
            self.add(path, [entry])

    def forbid(self, path: Path, reason: str, known: Iterable[Any] = ()) -> None:
        """A contradiction if a field is set, and not to one of the known values."""
        found = self.value(path)
        if found is not None and found not in known:
            self.refuse(path, f"{dotted(path)} is {shown(found)}, but {reason}", "remove the field")

    def _parent(self, path: Path) -> dict[str, Any] | None:
        """The mapping at a path, created if it is missing; None and a contradiction if it is of another type."""
        here: Any = self.data
        for number, step in enumerate(path):
            if not isinstance(here, dict | list):
                self.refuse(path[:number], f"{dotted(path[:number])} must be a mapping")
                return None
            if isinstance(here, dict) and here.get(f"{step}") is None:
                here[f"{step}"] = {}
            here = at_path(here, (step,))
        if isinstance(here, dict):
            return here
        self.refuse(path, f"{dotted(path)} must be a mapping")
        return None


def equal_quantity(one: Any, other: Any) -> bool:
    """Whether two quantities are the same amount, written in any way."""
    try:
        return quantity.read(one).value == quantity.read(other).value
    except ValueError:
        return False
