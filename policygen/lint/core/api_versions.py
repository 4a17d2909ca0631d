"""Which groups, versions and kinds the servers of a target serve.

Source: what running servers serve, `schemas/cluster`, and what Kubernetes removed.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache

from policygen.api_validation import schemas
from policygen.core.suggest import is_slip, suggest
from policygen.core.versions import KUEUE_V1BETA2, Minor, Version, written
from policygen.kubernetes.cluster import KUEUE
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import entries, mapping
from policygen.lint.core import removed_versions
from policygen.lint.core.kind_names import MeantKind, wrong_kind
from policygen.lint.core.server_refusals import component

Groups = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Versions by group and kind, the oldest first."""

_TOPOLOGY_V1BETA1 = (0, 14)
_NO_SUCCESSOR = "no other version replaces it: delete this object"
_ALIKE = 0.85
"""How close a group must be to a known one to be reported as its misspelling."""


def fault(obj: Object, target: Mapping[str, Version]) -> str | None:
    """What is wrong with the apiVersion or kind of an object; None if no fault is known.

    All objects of one apiVersion and kind have the same fault, except one that `wrong_kind` finds.
    """
    groups = _served()
    if not obj.api_version:
        return None  # a file that is not an object
    removal = removed_versions.find(obj, target["kubernetes"])
    if removal:
        difference = _DIFFERENCES.get((obj.api_version, obj.kind), "")
        instead = f"write {removal.successor}{difference}" if removal.successor else _NO_SUCCESSOR
        return f"Kubernetes {written(removal.release)} removed {obj.api_version}; {instead}"
    if obj.group not in groups or obj.api_version in groups or obj.group in _GROUPS_OF_OPERATORS:
        found = _misspelt_group(obj, groups)
        return found.message if found else _of_operator(obj)
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


_OF_OPERATORS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("jobset.x-k8s.io", "JobSet"): ("v1alpha2",),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): ("v1",),
    ("kubeflow.org", "MPIJob"): ("v1", "v2beta1"),
    ("trainer.kubeflow.org", "TrainJob"): ("v1alpha1",),
    ("workload.codeflare.dev", "AppWrapper"): ("v1beta2",),
    **{
        ("kubeflow.org", kind): ("v1",)
        for kind in ("JAXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob")
    },
}
"""The versions that operators serve. Source: the CRDs of JobSet 0.12, LeaderWorkerSet 0.9, Training
Operator 1.9.3, MPI Operator 0.8, Trainer 2.2 and AppWrapper 1.2, which Kueue 0.19.2 uses."""
_GROUPS_OF_OPERATORS = frozenset({"ray.io", *(group for group, _ in _OF_OPERATORS)})
"""Groups whose newer operators may serve other versions and kinds than the recorded ones."""
_VERSION = re.compile(r"v([0-9]{1,9})(?:(alpha|beta)([0-9]{1,9}))?")


def _of_operator(obj: Object) -> str | None:
    """The fault of a version that is older than all that an operator serves."""
    served = _OF_OPERATORS.get((obj.group, obj.kind))
    own = _VERSION.fullmatch(obj.version)
    if served is None or own is None or obj.version in served:
        return None
    if any(_age(own) >= _age(it) for each in served if (it := _VERSION.fullmatch(each))):
        return None
    return f"its operator no longer serves {obj.api_version}; write {obj.group}/{served[-1]}"


def _age(version: re.Match[str]) -> tuple[int, str, int]:
    """Sorts versions: v1alpha2, v1beta1, v1, v2beta1."""
    return int(version[1]), version[2] or "stable", int(version[3] or 0)


def meant(obj: Object, target: Mapping[str, Version]) -> Object | None:
    """The object with the apiVersion and kind that it should have; None if its own are not misspelled."""
    if not obj.api_version or removed_versions.find(obj, target["kubernetes"]):
        return None
    groups = _served()
    found = wrong_kind(obj)
    if found is None and (obj.group not in groups or obj.api_version in groups):
        found = _misspelt_group(obj, groups)
    if found is None:
        return None
    data = {**obj.data, "apiVersion": found.api_version, "kind": found.kind}
    return Object.read(data, obj.at)


def _is_old_topology(obj: Object, release: Minor) -> bool:
    return (obj.group, obj.kind) == (KUEUE, "Topology") and release < _TOPOLOGY_V1BETA1


def is_of_kind(obj: Object) -> bool:
    """Whether the kind of an object is wrong, and not its apiVersion."""
    found = wrong_kind(obj)
    if found is not None:
        return found.kind != obj.kind
    if obj.kind in removed_versions.table().get(obj.api_version, {}):
        return False  # older servers have this kind
    groups = _served()
    named = obj.group in groups and obj.api_version not in groups
    return named and obj.kind not in groups[obj.group]


def successor(obj: Object, target: Mapping[str, Version]) -> str | None:
    """The apiVersion with the same fields as one that is not served; None if unknown.

    Source: the deprecation guide of Kubernetes 1.16 to 1.26; apis/kueue of v0.13 to v0.15. The fields
    of autoscaling/v2beta2 and v2 in k8s.io/api 0.34 are equal.
    """
    kinds = _served().get(obj.group, {})
    if obj.group == KUEUE and target["kueue"].release < KUEUE_V1BETA2:
        return f"{KUEUE}/v1beta1" if obj.kind in _UNCHANGED and obj.version == "v1beta2" else None
    is_same = obj.version in _SAME.get((obj.group, obj.kind), ()) or _is_same_budget(obj)
    if not is_same:
        return None
    removal = removed_versions.find(obj, target["kubernetes"])
    if removal:
        return removal.successor
    return f"{obj.group}/{kinds[obj.kind][-1]}" if obj.kind in kinds else None


_SAME: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("autoscaling", "HorizontalPodAutoscaler"): ("v2beta2",),
    ("batch", "CronJob"): ("v1beta1",),
    ("coordination.k8s.io", "Lease"): ("v1beta1",),
    ("networking.k8s.io", "IngressClass"): ("v1beta1",),
    ("node.k8s.io", "RuntimeClass"): ("v1beta1",),
    ("scheduling.k8s.io", "PriorityClass"): ("v1alpha1", "v1beta1"),
    ("storage.k8s.io", "StorageClass"): ("v1beta1",),
    **{("apps", kind): ("v1beta2",) for kind in ("DaemonSet", "Deployment", "StatefulSet")},
    **{
        ("rbac.authorization.k8s.io", kind): ("v1beta1",)
        for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    },
}
"""Removed versions that differ from the newest one only in their name."""


def _is_same_budget(obj: Object) -> bool:
    """Whether a PodDisruptionBudget in v1beta1 selects the same pods in v1.

    Source: pkg/apis/policy/v1beta1/conversion.go of Kubernetes 1.34.
    """
    if (obj.api_version, obj.kind) != ("policy/v1beta1", "PodDisruptionBudget"):
        return False
    selector = mapping(obj.data, "spec").get("selector")
    return selector is None or (
        (any(mapping(selector, "matchLabels")) or bool(entries(selector, "matchExpressions")))
        and _MATCH_ALL not in f"{selector}"
    )


_MATCH_ALL = "pdb.kubernetes.io/"
"""A key that older servers add for selectors of all pods."""
_DIFFERENCES: Mapping[tuple[str, str], str] = {
    ("autoscaling/v2beta1", "HorizontalPodAutoscaler"): (
        ", whose metrics have other fields, such as `target: {type: Utilization, averageUtilization: ...}` "
        "in place of targetAverageUtilization"
    ),
    ("policy/v1beta1", "PodDisruptionBudget"): (
        ", in which an empty selector selects all pods of the namespace instead of no pod"
    ),
}
"""What is different in the version that replaces a removed one.

Source: the deprecation guide of Kubernetes 1.25; k8s.io/api/autoscaling/v2beta1.
"""

_UNCHANGED = ("LocalQueue", "ResourceFlavor", "WorkloadPriorityClass")
"""Kinds of Kueue whose v1beta1 and v1beta2 have the same fields."""


def _misspelt_group(obj: Object, groups: Groups) -> MeantKind | None:
    if "." in obj.api_version and obj.api_version in groups:
        versions = groups[obj.api_version].get(obj.kind, ("v1",))
        message = (
            f"apiVersion {obj.api_version} is a group without a version; "
            f"write {obj.api_version}/{versions[-1]}"
        )
        return MeantKind(f"{obj.api_version}/{versions[-1]}", obj.kind, message)
    if obj.group in groups:
        return None
    near = get_close_matches(obj.group.lower(), groups, n=1, cutoff=_ALIKE)
    for group in near or (it for it in groups if is_slip(obj.group, it)):
        if obj.kind in groups[group]:
            message = f'API group "{obj.group}" does not exist; did you mean "{group}"?'
            return MeantKind(f"{group}/{groups[group][obj.kind][-1]}", obj.kind, message)
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
