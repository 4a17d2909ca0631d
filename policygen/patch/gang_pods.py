"""The number of pods of an object, which is the size of the model's gang."""

from collections.abc import Mapping, Sequence
from typing import Any

from policygen.core.finding import Path, at_path, dotted
from policygen.core.quoting import counted, quoted
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import integer
from policygen.kubernetes.workloads import TEMPLATES, raw_templates
from policygen.patch.draft import Draft
from policygen.patch.model_finder import RunModel

_GROUPS: Mapping[str, Path] = {"LeaderWorkerSet": ("spec", "replicas")}
"""Where an object of a kind has the number of its gangs. Objects of other kinds are one gang."""

_GROUP = "kueue.x-k8s.io/pod-group-name"
_TOTAL = "kueue.x-k8s.io/pod-group-total-count"


def write(draft: Draft, object_: Object, run: RunModel, gpus: Sequence[Path]) -> None:
    """Write how many pods with GPUs start, if it is missing. A contradiction if it is another number.

    `gpus` are the templates of pods with GPUs. The author decides the number of pods of other models.
    """
    gang = run.assignment.model.gang
    if gang is None or not gpus:
        return
    if object_.kind == "Pod":
        _in_group(draft, run, gang.size)
        return
    pods = _pods(object_, gpus)
    if pods is None:
        return
    found = [it for it in TEMPLATES[object_.group, object_.kind] if "*" not in it.templates]
    fields = [it for it in found if it.templates in gpus and it.replicas]
    is_list = len(gpus) > 1 or not fields
    if is_list and pods != gang.size:
        draft.refuse(
            gpus[0],
            f"the object has {counted(pods, 'pod')} with GPUs, but the gang of model "
            f"{quoted(run.model)} has {gang.size}",
            "change the number of pods",
            f"{dotted(gpus[0])}: {counted(pods, 'pod')} with GPUs instead of {gang.size}",
        )
    if is_list:
        return
    if pods != gang.size:
        draft.add(fields[0].replicas, gang.size)
    if fields[0].at_most:  # an indexed Job needs it, even if it equals the number of pods
        most = at_path(object_.data, fields[0].at_most)
        if most is None or (integer(most) or 0) < gang.size:
            draft.add(fields[0].at_most, gang.size)


def _in_group(draft: Draft, run: RunModel, size: int) -> None:
    """A pod of a gang, which Kueue admits together with the others only if all name one pod group."""
    facts = run.assignment.facts
    if facts.scheduler != "kueue" or not facts.policy.gang_scheduling:
        return
    label, total = (("metadata", *it) for it in (("labels", _GROUP), ("annotations", _TOTAL)))
    if draft.value(label) is None:
        draft.refuse(
            label,
            f"model {quoted(run.model)} is a gang of {size} pods, but Kueue admits a pod without a pod group alone",
            f'write the label {_GROUP} and the annotation {_TOTAL}: "{size}" in all pods of the gang, or '
            "run the model as a Job",
            f"the pod has no label {_GROUP}",
        )
    else:
        draft.add(total, f"{size}")


def _pods(object_: Object, gpus: Sequence[Path]) -> int | None:
    """The pods with GPUs of an object, or of one of its gangs; None if their number is not known."""
    groups: Any = 1
    if object_.kind in _GROUPS:
        found = at_path(object_.data, _GROUPS[object_.kind])
        groups = 1 if found is None else integer(found)
    counts = [pods for path, _, pods in raw_templates(object_) if path in gpus]
    total = sum(it for it in counts if it is not None)
    if not groups or None in counts or total < groups:
        return None
    each: int = total // groups
    return each
