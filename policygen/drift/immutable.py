"""Differences that no update can fix, because the server refuses the change (`api_validation.updates`)."""

from typing import Any

from msgspec import UNSET

from policygen.api_validation.updates.refused import refused_changes
from policygen.api_validation.updates.update import RefusedChange
from policygen.core.finding import Path
from policygen.drift.compare import FieldDifference


def refusal(found: dict[str, Any], difference: FieldDifference) -> RefusedChange | None:
    """Why the server refuses to give one field of an object its expected value; None if it does not."""
    if difference.text:  # a file inside a ConfigMap changes as a whole
        changed = _changed(found, difference.text, None)
    else:
        changed = _changed(found, difference.path, difference.expected)
    return next(refused_changes(found, changed), None)


def _changed(data: Any, path: Path, value: Any) -> Any:
    """A copy of unchecked data with another value at a path; UNSET removes the field."""
    if not path:
        return value
    step, *rest = path
    if isinstance(step, int):
        entries = list(data) if isinstance(data, list) else []
        inner = _changed(entries[step] if step < len(entries) else None, tuple(rest), value)
        return [*entries[:step], *([] if inner is UNSET else [inner]), *entries[step + 1 :]]
    fields = dict(data) if isinstance(data, dict) else {}
    fields[step] = _changed(fields.get(step), tuple(rest), value)
    return {key: it for key, it in fields.items() if it is not UNSET}
