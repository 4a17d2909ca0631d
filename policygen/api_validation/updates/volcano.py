"""Changes that Volcano's webhook refuses.

Source: pkg/webhooks/admission/jobs/validate of Volcano 1.14.1.
"""

from collections.abc import Iterator

from policygen.api_validation.updates.update import RECREATE, ObjectUpdate, RefusedChange, entries
from policygen.core.finding import Path, at_path

_MUTABLE = {"minAvailable", "priorityClassName"}
_MUTABLE_OF_TASK = {"replicas", "minAvailable"}
_FILLED_OF_TASK = {"name", "maxRetry"}
"""Fields that Volcano sets in a new job if they are missing."""


def job(update: ObjectUpdate) -> Iterator[RefusedChange]:
    """The refusals about a Job of Volcano."""
    why = "Volcano lets only minAvailable, replicas of tasks and priorityClassName of a job change"
    old, new = (entries(it, "spec", "tasks") for it in (update.old, update.new))
    if len(old) != len(new):
        yield RefusedChange(
            ("spec", "tasks"), "Volcano does not add or remove tasks of a job", RECREATE
        )
        return

    def may_change(path: Path) -> bool:
        if path[1] in _MUTABLE:
            return True
        if path[1] == "tasks":
            name = path[3] if path[3:] else ""
            filled = name in _FILLED_OF_TASK and at_path(update.new, path) is None
            return filled or name in _MUTABLE_OF_TASK
        return (
            path[1] == "volumes"
            and path[3:] == ("volumeClaimName",)
            and bool(at_path(update.new, (*path[:3], "volumeClaim")))
        )

    yield from update.refused(("spec",), why, but=may_change, by_order=True)
