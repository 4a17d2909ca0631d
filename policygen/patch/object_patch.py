"""The fields of a model in an object that runs it, of any kind that creates pods.

`plan/pods.py` and `plan/workload/fields.py` decide the fields. Here is only the place of each in an object of a kind.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from policygen.core.finding import Path
from policygen.core.names import POD_GROUP
from policygen.core.tolerations import tolerates
from policygen.kubernetes.kueue_jobs import BY_POD
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mappings
from policygen.kubernetes.workloads import pod_templates
from policygen.patch import containers, gang_pods, leftovers, model_fields, obstacles
from policygen.patch.additions import Addition, additions
from policygen.patch.draft import Contradiction, Draft
from policygen.patch.model_finder import RunModel
from policygen.plan.amounts import CPU, MEMORY
from policygen.plan.model_names import MODEL
from policygen.plan.pods import (
    ANNOTATIONS,
    JOB_ANNOTATIONS,
    LABELS,
    LWS_ANNOTATIONS,
    NODE_SELECTOR,
    TOLERATIONS,
    VCJOB_SPEC,
    PodField,
    toleration,
)
from policygen.plan.workload.forms import WorkloadForm
from policygen.spec.types import Taint


class ObjectPatch(Struct, frozen=True, eq=False):
    """What an object needs to run its model under the policy."""

    object: Object
    added: tuple[Addition, ...] = ()
    """What it does not have."""
    faults: tuple[Contradiction, ...] = ()
    """What contradicts the policy. Then the object cannot be patched."""


def object_patch(object_: Object, run: RunModel) -> ObjectPatch:
    """The patch of an object that runs a model."""
    kind = obstacles.kind_fault(object_, run)
    faults = [*leftovers.faults(object_), *([kind] if kind else [])]
    templates = dict(pod_templates(object_))
    if not templates and not faults:
        why = f"this {object_.kind} has no pod template"
        faults = [Contradiction((), why, "patch a complete object")]
    if faults:
        return ObjectPatch(object_, faults=tuple(faults))
    draft = Draft(object_, run.who)
    obstacles.forbid(draft, object_, run)
    _write(draft, object_, run, templates)
    return ObjectPatch(object_, tuple(additions(object_.data, draft.data)), faults=draft.faults)


def _write(
    draft: Draft, object_: Object, run: RunModel, templates: Mapping[Path, Mapping[str, Any]]
) -> None:
    """Add the fields of a model to the draft of an object with these pod templates."""
    needed = run.needed
    gpus = [path for path, it in templates.items() if containers.using_gpus(it)]
    gpus = gpus if len(templates) > 1 else list(templates)
    if not gpus:
        draft.refuse(
            next(iter(templates)),
            f"the object has {len(templates)} pod templates, but no template requests GPUs",
            f"write limits with {needed.resource} in the templates of the pods that use them",
        )
    gang_pods.write(draft, object_, run, gpus)
    for template in templates:
        obstacles.other_taints(draft, template, run)
    for template in gpus:
        obstacles.other_nodes(draft, template, run)
    if needed.namespace is not None:
        draft.add(("metadata", "namespace"), needed.namespace)
    for holder in ((), *templates):
        draft.add((*holder, "metadata", "labels", MODEL), run.model)
    for field in needed.fields:
        if field.name == _MIN_AVAILABLE and run.assignment.model.gang is None:
            continue  # its author decides how many pods start together
        for holder in _holders(object_, run, field, list(templates), gpus):
            _add(draft, object_, run, field, holder)
    model = run.assignment.model
    shares = {CPU: model.cpu_milli is None, MEMORY: model.memory_bytes is None}
    own = [name for name, it in shares.items() if it]
    pods = {template: containers.write(draft, template, needed, own) for template in gpus}
    model_fields.write(draft, run, pods)


_MIN_AVAILABLE = "minAvailable"
_OF_OBJECTS: Mapping[str, Path] = {
    LABELS: ("metadata", "labels"),
    JOB_ANNOTATIONS: ("metadata", "annotations"),
    LWS_ANNOTATIONS: ("metadata", "annotations"),
    VCJOB_SPEC: ("spec",),
}
_OF_TEMPLATES: Mapping[str, Path] = {
    "": ("spec",),
    ANNOTATIONS: ("metadata", "annotations"),
    NODE_SELECTOR: ("spec", "nodeSelector"),
    TOLERATIONS: ("spec",),
}
_OF_GPU_PODS = (NODE_SELECTOR, TOLERATIONS)
"""The others are fields of all pods of an object: they have the same queue and scheduler."""


def _holders(
    object_: Object, run: RunModel, field: PodField, templates: Sequence[Path], gpus: Sequence[Path]
) -> list[Path]:
    """The parts of an object in which a field belongs. `gpus` are the templates of pods with GPUs."""
    if run.form == WorkloadForm.VOLCANO_JOB and field.name == "schedulerName":
        return [("spec",)]  # for all its pods
    if field.owner == LABELS and (object_.group, object_.kind) in BY_POD:
        return [(*it, "metadata", "labels") for it in templates]
    if field.owner in _OF_OBJECTS:
        above = ("spec", "jobTemplate") if object_.kind == "CronJob" else ()
        return [(*above, *_OF_OBJECTS[field.owner])]
    chosen = gpus if field.owner in _OF_GPU_PODS else templates
    found: list[Path] = [(*it, *_OF_TEMPLATES[field.owner]) for it in chosen]
    if run.form == WorkloadForm.VOLCANO_JOB and field.name == "priorityClassName":
        found.append(("spec",))  # the PodGroup has the priority of the Job, and pods that of theirs
    return found


def _add(draft: Draft, object_: Object, run: RunModel, field: PodField, holder: Path) -> None:
    """Add one field to a part of an object."""
    value = field.value
    if isinstance(value, Taint):
        _tolerate(draft, (*holder, "tolerations"), value)
    elif field.name == POD_GROUP:
        group = run.pod_group(object_.name, draft.value((*holder, POD_GROUP)))
        if group is None:
            draft.refuse(
                ("metadata", "name"),
                f'each gang of model "{run.model}" has its own PodGroup, and the name does not show '
                "which one",
                f"write the annotation {POD_GROUP}, or name the object {run.model}-0",
            )
        else:
            draft.add((*holder, POD_GROUP), group)
    else:
        draft.add((*holder, field.name), value)


def _tolerate(draft: Draft, path: Path, taint: Taint) -> None:
    """Add a toleration, unless the pod tolerates the taint already."""
    known = map(obstacles.toleration_view, mappings(draft.value(path)))
    if not any(tolerates(it, taint) for it in known):
        draft.append(path, toleration(taint))
