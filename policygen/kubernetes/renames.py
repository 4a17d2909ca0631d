"""Fields with other names in older API versions: read as the newest, shown as written.

Source: apis/kueue/v1beta1/*_conversion.go of kubernetes-sigs/kueue v0.15 to v0.19.
"""

from collections.abc import Callable, Mapping
from typing import Any

from policygen.core.finding import At, Edit, NewMapping, Path, Verb, at_path
from policygen.kubernetes.object import Object

_KUEUE = "kueue.x-k8s.io"
_OLD, _NEW = f"{_KUEUE}/v1beta1", f"{_KUEUE}/v1beta2"
_WORDS = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}


def canonical(object_: Object) -> Mapping[str, Any]:
    """The data of an object with the names of the newest version."""
    if object_.kind != "ClusterQueue" or object_.api_version != _OLD:
        return object_.data
    spec = object_.data.get("spec")
    if not isinstance(spec, dict):
        return object_.data
    spec = dict(spec)
    if "cohort" in spec:
        spec["cohortName"] = spec.pop("cohort")
    checks = spec.pop("admissionChecks", None)
    if isinstance(checks, list) and checks:
        named = [{"name": check} for check in checks]
        spec["admissionChecksStrategy"] = {"admissionChecks": named}
    fungibility = spec.get("flavorFungibility")
    if isinstance(fungibility, dict):
        spec["flavorFungibility"] = {
            key: _WORDS.get(value, value) if isinstance(value, str) else value
            for key, value in fungibility.items()
        }
    return {**object_.data, "spec": spec}


def is_renamed_value(path: Path, one: Any, other: Any) -> bool:
    """Whether two values of a field are the old and the new name of one value."""
    return (
        path[:2] == ("spec", "flavorFungibility")
        and all(isinstance(it, str) for it in (one, other))
        and _WORDS.get(one, one) == _WORDS.get(other, other)
    )


def written(object_: Object, path: Path) -> Path:
    """The path in this object's API version of a path in the newest one."""
    if object_.api_version != _OLD or object_.kind != "ClusterQueue":
        return path
    if path[:2] == ("spec", "cohortName"):
        return ("spec", "cohort", *path[2:])
    spec = object_.data.get("spec")
    strategy = ("spec", "admissionChecksStrategy", "admissionChecks")
    if path[:3] == strategy and isinstance(spec, dict) and spec.get("admissionChecks"):
        return ("spec", "admissionChecks", *path[3:4])
    return path


def upgraded(object_: Object) -> tuple[Edit, ...]:
    """The edits that convert an older object of Kueue to an equivalent v1beta2 object.

    They remove the status, which the server ignores when the object is applied, and whose fields have
    other names in v1beta2. Empty if the conversion would lose other data. Source: also
    config/components/crd/bases.
    """
    spec = object_.data.get("spec")
    old = ("v1beta1", *_FORMER.get(object_.kind, ()))
    if object_.group != _KUEUE or object_.version not in old:
        return ()
    edits: list[Edit] | None = []
    if isinstance(spec, dict) and object_.kind in _UPGRADES:
        edits = _UPGRADES[object_.kind](object_, spec)
    if edits is None:
        return ()
    if "status" in object_.data:
        edits = [*edits, Edit(Verb.REMOVE, object_.at / "status")]
    version = Edit(Verb.REWRITE, object_.at / "apiVersion", _NEW)
    return (version, *edits)


_FORMER: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    ("Cohort", "MultiKueueCluster", "MultiKueueConfig", "Topology"), ("v1alpha1",)
)
"""Versions before v1beta1, with its fields but for the parent of a Cohort.

Source: apis/kueue/v1alpha1 of Kueue 0.8.1 and 0.10.0.
"""


def _cluster_queue(object_: Object, spec: Mapping[str, Any]) -> list[Edit] | None:
    at, edits = object_.at / "spec", []
    if "cohort" in spec:
        edits.append(Edit(Verb.RENAME, at / "cohort", "cohortName"))
    if "admissionChecks" in spec:
        found, there = spec["admissionChecks"], at / "admissionChecks"
        if not found:
            edits.append(Edit(Verb.REMOVE, there))
        elif not isinstance(found, list) or "admissionChecksStrategy" in spec:
            return None
        else:
            edits.append(Edit(Verb.RENAME, there, "admissionChecksStrategy"))
            edits.append(Edit(Verb.NEST, there, "admissionChecks"))
            edits += [Edit(Verb.NEST, there / i, "name") for i in range(len(found))]
    fungibility = spec.get("flavorFungibility")
    for key, value in fungibility.items() if isinstance(fungibility, dict) else ():
        if isinstance(value, str) and value in _WORDS:
            edits.append(Edit(Verb.REWRITE, at.to("flavorFungibility", key), _WORDS[value]))
    return edits


def _cohort(object_: Object, spec: Mapping[str, Any]) -> list[Edit] | None:
    if "parent" not in spec:
        return []
    return [Edit(Verb.RENAME, object_.at.to("spec", "parent"), "parentName")]


def _admission_check(object_: Object, spec: Mapping[str, Any]) -> list[Edit] | None:
    if "retryDelayMinutes" not in spec:
        return []
    return [Edit(Verb.REMOVE, object_.at.to("spec", "retryDelayMinutes"))]  # no release reads it


def _multi_kueue_cluster(object_: Object, spec: Mapping[str, Any]) -> list[Edit] | None:
    found = spec.get("kubeConfig")
    if "clusterProfileRef" in spec or not isinstance(found, dict) or not found.get("location"):
        return None
    at = object_.at.to("spec", "kubeConfig")
    return [Edit(Verb.RENAME, at, "clusterSource"), Edit(Verb.NEST, at, "kubeConfig")]


def _workload(object_: Object, spec: Mapping[str, Any]) -> list[Edit] | None:
    """Source: apis/kueue/v1beta1/workload_conversion.go."""
    at, source = object_.at / "spec", spec.get("priorityClassSource")
    if source is None and "priorityClassName" not in spec:
        return [] if "priorityClassSource" not in spec else None
    reference = _PRIORITY_SOURCES.get(str(source))
    if reference is None or not isinstance(spec.get("priorityClassName"), str):
        return None
    group, kind = reference
    to = NewMapping((("group", group), ("kind", kind), ("name", "")))
    return [
        Edit(Verb.RENAME, at / "priorityClassName", "priorityClassRef"),
        Edit(Verb.NEST, at / "priorityClassName", to),
        Edit(Verb.REMOVE, at / "priorityClassSource"),
    ]


_PRIORITY_SOURCES: Mapping[str, tuple[str, str]] = {
    f"{_KUEUE}/workloadpriorityclass": (_KUEUE, "WorkloadPriorityClass"),
    "scheduling.k8s.io/priorityclass": ("scheduling.k8s.io", "PriorityClass"),
}
"""Group and kind of the class, by spec.priorityClassSource of v1beta1."""


_UPGRADES: Mapping[str, Callable[[Object, Mapping[str, Any]], list[Edit] | None]] = {
    "AdmissionCheck": _admission_check,
    "ClusterQueue": _cluster_queue,
    "Cohort": _cohort,
    "MultiKueueCluster": _multi_kueue_cluster,
    "Workload": _workload,
}
"""The edits besides the apiVersion, by kind; a function returns None if it cannot convert."""


def leftovers(object_: Object) -> Mapping[Path, tuple[str, tuple[Edit, ...]]]:
    """The fields of older versions in a v1beta2 object: a message and the edits that fix each, by path."""
    spec = object_.data.get("spec")
    if object_.api_version != _NEW or object_.kind not in _UPGRADES or not isinstance(spec, dict):
        return {}
    found: dict[Path, tuple[Edit, ...]] = {}
    for edit in _UPGRADES[object_.kind](object_, spec) or ():
        path = edit.at.path[len(object_.at.path) :]
        root = path[:3] if path[1] == "flavorFungibility" else _WITH.get(path[:2], path[:2])
        found[root] = (*found.get(root, ()), edit)
    return {
        path: (
            f"{_shown(path, spec)} that does not exist in v1beta2; write {_NOW.get(path, _OTHERWISE)}",
            edits,
        )
        for path, edits in found.items()
        if path in _NOW or len(path) == 3
    }


def _shown(path: Path, spec: Mapping[str, Any]) -> str:
    if len(path) == 3:
        return f'"{spec["flavorFungibility"][path[2]]}" is a value of v1beta1'
    return f"{path[1]} is a field of {'v1alpha1' if path[1] == 'parent' else 'v1beta1'}"


def new_fields(object_: Object) -> list[str]:
    """What to write in v1beta2 instead of the fields of an older object that have other names."""
    spec = object_.data.get("spec")
    return [
        f"{text} instead of {path[1]}"
        for path, text in _NOW.items()
        if isinstance(spec, dict) and path[1] in spec
    ]


_NOW: Mapping[Path, str] = {
    ("spec", "cohort"): "cohortName",
    ("spec", "admissionChecks"): "admissionChecksStrategy: {admissionChecks: [{name: ...}]}",
    ("spec", "parent"): "parentName",
    ("spec", "kubeConfig"): "clusterSource: {kubeConfig: ...}",
    ("spec", "priorityClassName"): "priorityClassRef: {group: ..., kind: ..., name: ...}",
}
_WITH: Mapping[Path, Path] = {("spec", "priorityClassSource"): ("spec", "priorityClassName")}
"""A field to the one with which it becomes a new one."""
_OTHERWISE = "MayStopSearch"


def as_written(object_: Object | None, at: At) -> At:
    """The place in the object's own API version of a place in the newest one."""
    if object_ is None:
        return at
    root = len(object_.at.path)
    path = at.path[root:]
    own = own_path(object_, path)
    return at if own is path else at._replace(path=(*at.path[:root], *own))


def own_path(object_: Object, path: Path) -> Path:
    """A path of the newest API version in the object; a field that exists there is not renamed."""
    own = written(object_, path)
    return path if own is path or at_path(object_.data, path) is not None else own
