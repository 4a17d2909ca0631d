"""Removes the parts of a document that its schema refuses."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from policygen.core.finding import Hit, Path
from policygen.spec import schema
from policygen.spec.forms import DocumentForm

_ROUNDS = 8
"""Removing a required key makes its parent invalid, so pruning repeats one level up."""


def pruned(
    form: DocumentForm, data: dict[str, Any], faults: Iterable[Hit]
) -> dict[str, Any] | None:
    """A copy that is valid by the schema, so that the rest can be checked too; None if nothing is left.

    The paths of the other values do not change: a list with a refused entry is removed completely.
    """
    left = deepcopy(data)
    for _ in range(_ROUNDS):
        for path in sorted({fault.at.path for fault in faults if fault.at}, key=len, reverse=True):
            if not _removed(left, path):
                return None
        faults = schema.check(form, left, 0)
        if not faults:
            return left
    return None


def _removed(data: dict[str, Any], path: Path) -> bool:
    """Remove a value, or the list that contains it; True also if it does not exist any more."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    if not path:
        return False
    inner: Any = data
    for step in path[:-1]:
        try:
            inner = inner[step]
        except (KeyError, IndexError):
            return True
    inner.pop(path[-1], None)
    return True
