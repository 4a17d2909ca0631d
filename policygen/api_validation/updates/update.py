"""Both states of an object, and the refusal of a change."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from policygen.api_validation.fields import mapping, mappings
from policygen.api_validation.structural import Schema, below
from policygen.api_validation.updates.states import Data, differences, is_custom
from policygen.core.finding import Path, at_path
from policygen.core.versions import Minor

RECREATE = "delete the object and create it again, or keep the old value"
KEEP = "keep the old value"


class RefusedChange(NamedTuple):
    """One change that a server refuses."""

    path: Path
    """The first changed field, in the new object."""
    why: str
    """A sentence without a final stop."""
    remedy: str
    """An imperative."""
    fields: int = 1
    """The number of changed fields that are refused for this reason."""


class ObjectUpdate(NamedTuple):
    """Both states of an object."""

    old: Data
    new: Data
    schema: Schema
    kubernetes: Minor
    storage_class: Callable[[str], Data | None] = lambda _: None
    """The StorageClass of a name; None if it is not known."""

    def changed(self, path: Path, *, by_order: bool = False) -> list[Path]:
        """The fields at or below a path that differ.

        `by_order`: the order of lists counts although the kind is custom, as in the code of a webhook.
        """
        schema = self.schema
        for step in path:
            schema = below(schema, step)
        old, new = at_path(self.old, path), at_path(self.new, path)
        return list(
            differences(old, new, schema, path, by_order=by_order or not is_custom(self.old))
        )

    def refused(
        self,
        path: Path,
        why: str,
        remedy: str = RECREATE,
        *,
        but: Callable[[Path], bool] | None = None,
        by_order: bool = False,
    ) -> Iterator[RefusedChange]:
        """The refusal of all changes at or below a path, except those that `but` names; `by_order` as in `changed`."""
        found = [it for it in self.changed(path, by_order=by_order) if but is None or not but(it)]
        if found:
            yield RefusedChange(found[0], why, remedy, len(found))


def group_kind(data: Data) -> tuple[str, str]:
    """The API group and the kind of an object; empty texts if they are missing."""
    return str(data.get("apiVersion", "")).rpartition("/")[0], str(data.get("kind", ""))


def names(update: ObjectUpdate, path: Path) -> set[str]:
    """The keys at a path in either state."""
    return {*mapping(update.old, *path), *mapping(update.new, *path)}


def condition(data: Data, name: str) -> bool:
    """Whether a condition in the status of an object is true."""
    listed = mappings(data, "status", "conditions")
    return any(it.get("type") == name and it.get("status") == "True" for it in listed)
