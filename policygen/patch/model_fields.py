"""The fields of `plan/workload/fields.py` at their places in an object: update, schedule, checkpoint, spread."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from policygen.core.finding import Path, dotted
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.pod_terms import selector_of
from policygen.kubernetes.untyped import keyed_texts, mapping, mappings, text, texts
from policygen.patch.draft import Draft, Equal
from policygen.patch.model_finder import RunModel
from policygen.plan.model_names import MODEL
from policygen.plan.workload.fields import ModelField, ObjectPart

Pods = Mapping[Path, Path | None]
"""The pod templates with GPUs, each with its container that uses them, if that is known."""


def write(draft: Draft, run: RunModel, pods: Pods) -> None:
    """Add the fields that are missing. A contradiction if one has a value that does not do the same."""
    spec: Path = ("spec",)
    job: Path = ("spec", "jobTemplate", "spec") if _is_cron_job(draft) else spec
    templates = [(*it, "spec") for it in pods]
    holders: Mapping[ObjectPart, Sequence[Path]] = {
        ObjectPart.OBJECT: [spec],
        ObjectPart.JOB: [job],
        ObjectPart.POD: templates,
        ObjectPart.CONTAINER: [it for it in pods.values() if it is not None],
    }
    for field in run.fields:
        for holder in holders[field.holder]:
            _OTHERS.get(field.path[0], _field)(draft, holder, field)


def _is_cron_job(draft: Draft) -> bool:
    return text(draft.data, "kind") == "CronJob"


def _field(draft: Draft, holder: Path, field: ModelField) -> None:
    draft.add((*holder, *field.path), field.value, _EQUAL.get(field.path[-1], _same))


def _same(found: Any, needed: Any) -> bool:
    return bool(found == needed)


def _anything(_found: Any, _needed: Any) -> bool:
    return True


def _at_most(found: Any, needed: Any) -> bool:
    return isinstance(found, int) and bool(found <= needed)


_EQUAL: Mapping[str | int, Equal] = {
    "activeDeadlineSeconds": _at_most,
    "startingDeadlineSeconds": _anything,  # the author knows how late a run is still of use
}
"""When a value of the author does what the policy needs, if not only when it is equal."""


def _update(draft: Draft, holder: Path, field: ModelField) -> None:
    """The strategy of an update. `Recreate` deletes all pods first, so it needs no room."""
    if text(draft.value(holder), "strategy", "type") == "Recreate":
        return
    path = (*holder, *field.path)
    if field.path[-1] == "maxSurge":
        draft.add(path, field.value, lambda found, _: found in (0, "0%"))
    elif draft.value(path) in (0, "0%"):
        reason = f"{dotted(path)} is 0, but an update has no room for one more pod, so it must delete a pod"
        draft.refuse(path, reason, f"write {field.value}")
    else:
        draft.add(path, field.value, _anything)


def _scaled(draft: Draft, holder: Path, field: ModelField) -> None:
    """The replicas that an autoscaler sets: each apply of a manifest with replicas would undo them."""
    draft.forbid((*holder, *field.path), "the autoscaler of the model sets the replicas")


def _hook(draft: Draft, holder: Path, field: ModelField) -> None:
    """The preStop hook of a container, which has one action."""
    path = (*holder, *field.path)
    ((action, needed),) = field.value.items()
    hook = draft.value(path)
    if isinstance(hook, dict) and hook not in ({}, {action: {}}, field.value):
        command = json.dumps(needed["command"])
        reason = f"{dotted(path)} is not the checkpoint command of the model"
        draft.refuse(path, reason, f"write {action}.command: {command}, or remove the field")
    else:
        draft.add((*path, action, "command"), needed["command"])


def _policies(draft: Draft, holder: Path, field: ModelField) -> None:
    """The policies of a Volcano Job. One of the author for the event is the author's decision."""
    (needed,) = field.value
    path = (*holder, *field.path)
    for it in mappings(draft.value(path)):
        if {text(it, "event"), *texts(it, "events")} & {needed["event"], "*"}:
            return
    draft.append(path, needed)


def _affinity(draft: Draft, holder: Path, field: ModelField) -> None:
    """An anti-affinity between the replicas."""
    ((kind, terms),) = field.value.items()
    ((_, (term,)),) = terms.items()
    path = (*holder, "affinity", kind, REQUIRED)
    _separate(draft, holder, path, term)


def _constraints(draft: Draft, holder: Path, field: ModelField) -> None:
    """A spread constraint between the replicas."""
    (constraint,) = field.value
    _separate(draft, holder, (*holder, *field.path), constraint)


def _separate(draft: Draft, holder: Path, path: Path, needed: Mapping[str, Any]) -> None:
    """Add an entry that separates the pods of a template, unless an entry does it already."""
    labels = keyed_texts(draft.value(holder[:-1]), "metadata", "labels")
    for it in mappings(draft.value(path)):
        selector = selector_of(it.get("labelSelector"))
        if (
            it.get("topologyKey") == needed["topologyKey"]
            and selector is not None
            and selector.selects(labels)
        ):
            return
    selected = {"matchLabels": _own_labels(draft, labels)}
    draft.append(path, {**needed, "labelSelector": selected})


def _own_labels(draft: Draft, labels: Mapping[str, str]) -> Mapping[str, Any]:
    """Labels by which the pods of an object are known."""
    key = "app" if "app" in labels else MODEL
    selected = mapping(draft.data, "spec", "selector", "matchLabels")
    return selected or {key: labels.get(key, "")}


_OTHERS: Mapping[str | int, Callable[[Draft, Path, ModelField], None]] = {
    "replicas": _scaled,
    "strategy": _update,
    "lifecycle": _hook,
    "policies": _policies,
    "affinity": _affinity,
    "topologySpreadConstraints": _constraints,
}
"""How fields are written that have other forms with the same effect."""
