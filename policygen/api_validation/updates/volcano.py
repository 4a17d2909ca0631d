"""Changes that Volcano's webhook refuses.

Source: pkg/webhooks/admission/jobs/validate of Volcano 1.14.1.
"""

import json
from collections.abc import Iterator

from policygen.api_validation.fields import mappings
from policygen.api_validation.updates.update import RECREATE, ObjectUpdate, RefusedChange
from policygen.core.finding import Path, at_path

_MUTABLE = {"minAvailable", "priorityClassName"}
_MUTABLE_OF_TASK = {"replicas", "minAvailable"}
_POD: Path = ("template", "spec")
_SET_ON_CREATE: tuple[Path, ...] = (("name",), ("maxRetry",), (*_POD, "dnsPolicy"))
"""Fields of a task that Volcano sets in a new job if they are missing, the last one for hostNetwork.

It does not set them on an update, and an apply replaces the list of tasks. Source: mutateSpec of
pkg/webhooks/admission/jobs/mutate. `minAvailable` is set, too, but may change.
"""


def job(update: ObjectUpdate) -> Iterator[RefusedChange]:
    """The refusals about a Job of Volcano."""
    why = "Volcano lets only minAvailable, replicas of tasks and priorityClassName of a job change"
    old, new = (mappings(it, "spec", "tasks") for it in (update.old, update.new))
    if len(old) != len(new):
        yield RefusedChange(
            ("spec", "tasks"), "Volcano does not add or remove tasks of a job", RECREATE
        )
        return
    lost = list(_lost(update))
    yield from _restored(update, lost)

    def may_change(path: Path) -> bool:
        field = path[1] if len(path) > 1 else ""
        if path in lost or field in _MUTABLE or _is_no_divisor(update, path):
            return True
        if field == "tasks":
            return path[3:4] != () and path[3] in _MUTABLE_OF_TASK
        return (
            field == "volumes"
            and path[3:] == ("volumeClaimName",)
            and bool(at_path(update.new, (*path[:3], "volumeClaim")))
        )

    yield from update.refused(("spec",), why, but=may_change, by_order=True)


def _is_no_divisor(update: ObjectUpdate, path: Path) -> bool:
    """Whether the divisor of a reference to a resource is 0, which is the same as none."""
    values = [at_path(it, path) for it in (update.old, update.new)]
    return path[-1] == "divisor" and all(it in (None, "0", 0) for it in values)


def _lost(update: ObjectUpdate) -> Iterator[Path]:
    """The fields that Volcano set when the job was created, and that the new state lacks."""
    for index, task in enumerate(mappings(update.new, "spec", "tasks")):
        for field in _SET_ON_CREATE:
            path: Path = ("spec", "tasks", index, *field)
            without = not at_path(task, field) and bool(at_path(update.old, path))
            if without and (field[-1] != "dnsPolicy" or at_path(task, (*_POD, "hostNetwork"))):
                yield path


def _restored(update: ObjectUpdate, lost: list[Path]) -> Iterator[RefusedChange]:
    if lost:
        why = "Volcano sets this field only when a job is created, and an apply replaces all tasks"
        value = f"{lost[0][-1]}: {json.dumps(at_path(update.old, lost[0]))}"
        remedy = f"write {value}"
        if len(lost) > 1:
            remedy = f"write the values that the cluster has, such as {value}"
        yield RefusedChange(lost[0], why, remedy, len(lost))
