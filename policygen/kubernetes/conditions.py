"""Conditions in the status of objects, and times."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct

from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mappings, text

_UNITS = ((86400, "d"), (3600, "h"), (60, "m"))


class Condition(Struct, frozen=True):
    """A `metav1.Condition`."""

    holds: bool
    """Its status is True."""
    reason: str
    message: str
    """The controller's message, in one line."""
    since: datetime | None


def condition(obj: Object, name: str) -> Condition | None:
    """The condition of an object with a type; None if it is missing."""
    for entry in mappings(obj.data, "status", "conditions"):
        if entry.get("type") == name:
            return Condition(
                holds=entry.get("status") == "True",
                reason=_text(entry, "reason"),
                message=_text(entry, "message"),
                since=moment(entry.get("lastTransitionTime")),
            )
    return None


def holds(obj: Object, name: str) -> bool:
    """Whether a condition exists and is True."""
    found = condition(obj, name)
    return found is not None and found.holds


def phase(obj: Object) -> str:
    """`status.phase`; empty if missing."""
    return text(obj.data, "status", "phase")


def created(obj: Object) -> datetime | None:
    """`metadata.creationTimestamp`."""
    return moment(text(obj.data, "metadata", "creationTimestamp"))


def moment(text: Any) -> datetime | None:
    """A time as the API writes it, `2026-11-21T03:00:00Z`; None for anything else."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def long(age: timedelta) -> str:
    """A duration in the largest unit that gives at least 2: `26h`, `3d`."""
    seconds = int(age.total_seconds())
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _text(of: Mapping[str, Any], key: str) -> str:
    found = of.get(key)
    return " ".join(found.split()) if isinstance(found, str) else ""
