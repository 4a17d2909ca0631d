"""Which groups, versions and kinds the servers of a target serve.

Source: what running servers serve, `schemas/cluster`.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache

from policygen.api_validation import schemas
from policygen.core.suggest import suggest
from policygen.core.versions import KUEUE_V1BETA2, Minor, Version
from policygen.kubernetes.cluster import KUEUE
from policygen.kubernetes.object import Object
from policygen.lint.core.server_refusals import component

Groups = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Versions by group and kind, the oldest first."""

_TOPOLOGY_V1BETA1 = (0, 14)
_ALIKE = 0.85
"""How close a group must be to a known one to be reported as its misspelling."""


def fault(obj: Object, target: Mapping[str, Version]) -> str | None:
    """What is wrong with the apiVersion or kind of an object; None if no fault is known."""
    groups = _served()
    if not obj.api_version:
        return None  # a file that is not an object
    if obj.group not in groups or obj.api_version in groups:
        return _misspelt(obj, groups)
    kinds, release = groups[obj.group], target["kueue"].release
    if obj.kind not in kinds:
        if _is_complete(obj.group) and schemas.covers(component(obj), target[component(obj)]):
            return f"kind {obj.kind} does not exist in {obj.group}; {suggest(obj.kind, kinds)}"
        return None
    versions = kinds[obj.kind]
    if obj.group == KUEUE and release < KUEUE_V1BETA2 and obj.version in ("v1beta2", "v1alpha1"):
        if obj.version == "v1alpha1":
            return None  # served until 0.14; the recorded servers do not serve it
        newest = "v1alpha1" if _is_old_topology(obj, release) else "v1beta1"
        return f"Kueue {target['kueue']} does not serve v1beta2; write {KUEUE}/{newest}"
    if _is_old_topology(obj, release):
        return f"Kueue {target['kueue']} serves Topology only as v1alpha1; write {KUEUE}/v1alpha1"
    if obj.version in versions or not schemas.covers(component(obj), target[component(obj)]):
        return None
    newest = f"{obj.group}/{versions[-1]}" if obj.group else versions[-1]
    return f"apiVersion {obj.api_version} is not served; write {newest}"


def _is_old_topology(obj: Object, release: Minor) -> bool:
    return (obj.group, obj.kind) == (KUEUE, "Topology") and release < _TOPOLOGY_V1BETA1


def is_of_kind(obj: Object) -> bool:
    """Whether the kind of an object is not served, and not its apiVersion."""
    groups = _served()
    named = obj.group in groups and obj.api_version not in groups
    return named and obj.kind not in groups[obj.group]


def successor(obj: Object, target: Mapping[str, Version]) -> str | None:
    """The apiVersion with the same fields as one that is not served; None if unknown.

    Source: the deprecation guide of Kubernetes 1.22 and 1.25; apis/kueue of v0.13 to v0.15.
    """
    kinds = _served().get(obj.group, {})
    if obj.group == KUEUE and target["kueue"].release < KUEUE_V1BETA2:
        return f"{KUEUE}/v1beta1" if obj.kind in _UNCHANGED and obj.version == "v1beta2" else None
    if obj.version in _SAME.get((obj.group, obj.kind), ()) and obj.kind in kinds:
        return f"{obj.group}/{kinds[obj.kind][-1]}"
    return None


_SAME: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("batch", "CronJob"): ("v1beta1",),
    ("scheduling.k8s.io", "PriorityClass"): ("v1alpha1", "v1beta1"),
    (KUEUE, "Topology"): ("v1alpha1",),
    **{("apps", kind): ("v1beta2",) for kind in ("DaemonSet", "Deployment", "StatefulSet")},
}
"""Removed versions that differ from the newest one only in their name."""

_UNCHANGED = ("LocalQueue", "ResourceFlavor", "WorkloadPriorityClass")
"""Kinds of Kueue whose v1beta1 and v1beta2 have the same fields."""


def _misspelt(obj: Object, groups: Groups) -> str | None:
    if "." in obj.api_version and obj.api_version in groups:
        versions = groups[obj.api_version].get(obj.kind, ("v1",))
        return (
            f"apiVersion {obj.api_version} is a group without a version; "
            f"write {obj.api_version}/{versions[-1]}"
        )
    for group in get_close_matches(obj.group, groups, n=1, cutoff=_ALIKE):
        if obj.kind in groups[group]:
            return f'API group "{obj.group}" does not exist; did you mean "{group}"?'
    return None


def _is_complete(group: str) -> bool:
    """Whether all kinds of a group are known, not only those that rules read."""
    return group == KUEUE or group.endswith("volcano.sh")


@cache
def _served() -> Groups:
    """Versions by group and kind, the oldest first."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for at, kinds in sorted(schemas.index().kinds.items()):
        group, _, version = at.rpartition("/")
        group = "" if group == schemas.CORE else group
        for kind in kinds:
            versions = found.setdefault(group, {})
            versions[kind] = (*versions.get(kind, ()), version)
    return found
