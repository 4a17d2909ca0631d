"""Kinds of objects by API group, and which of them an unknown kind or apiVersion was meant to be."""

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import cache
from typing import Any, NamedTuple

from policygen.api_validation import schemas
from policygen.core.quoting import listed
from policygen.core.suggest import is_slip
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping

_ALIKE = 0.88
"""How close a kind must be to a known one to be reported as its misspelling: DeploymentConfig of
OpenShift is not a misspelt Deployment."""

_BUILT_IN: Mapping[str, tuple[str, ...]] = {
    "v1": (
        "ConfigMap",
        "Endpoints",
        "LimitRange",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Pod",
        "PodTemplate",
        "ReplicationController",
        "ResourceQuota",
        "Secret",
        "Service",
        "ServiceAccount",
    ),
    "apps/v1": ("ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "autoscaling/v2": ("HorizontalPodAutoscaler",),
    "batch/v1": ("CronJob", "Job"),
    "networking.k8s.io/v1": ("Ingress", "IngressClass", "NetworkPolicy"),
    "node.k8s.io/v1": ("RuntimeClass",),
    "policy/v1": ("PodDisruptionBudget",),
    "rbac.authorization.k8s.io/v1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "scheduling.k8s.io/v1alpha1": ("Workload",),
    "scheduling.k8s.io/v1alpha2": ("PodGroup", "Workload"),
    "scheduling.k8s.io/v1": ("PriorityClass",),
    "storage.k8s.io/v1": ("StorageClass",),
    "jobset.x-k8s.io/v1alpha2": ("JobSet",),
    "kubeflow.org/v1": ("JAXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"),
    "kubeflow.org/v2beta1": ("MPIJob",),
    "leaderworkerset.x-k8s.io/v1": ("LeaderWorkerSet",),
    "ray.io/v1": ("RayCluster", "RayJob", "RayService"),
    "workload.codeflare.dev/v1beta2": ("AppWrapper",),
}
"""Kinds in the version to write, besides those of recorded servers.

Source: the API reference of Kubernetes 1.35 and 1.36; the integrations of Kueue 0.19.
"""


class MeantKind(NamedTuple):
    """Another apiVersion and kind for an object."""

    api_version: str
    kind: str
    message: str
    """What is wrong with those that the object has, and what to write."""


def wrong_kind(obj: Object) -> MeantKind | None:
    """The kind that an object was meant to be; None if its own is known and has its fields."""
    return misspelt(obj) or of_another_group(obj)


def misspelt(obj: Object) -> MeantKind | None:
    """The known kind that an unknown one resembles, or its group; None if no kind does."""
    kinds = _kinds()
    if _is_known(obj.group, obj.kind) or obj.kind.endswith("List"):
        return None
    here = obj.group or "v1"
    if obj.group not in {_group(it) for it in kinds} or (not obj.group and "." in obj.api_version):
        return None  # a group that no table lists, or one without a version
    elsewhere = list({_group(it): it for it, known in kinds.items() if obj.kind in known}.values())
    of_group = [(it, kind) for it in kinds if _group(it) == obj.group for kind in kinds[it]]
    if elsewhere:
        best = min(elsewhere, key=lambda it: (len(_unknown(obj, it, obj.kind)), "." in it))
        fitting = [each for each in of_group if not _unknown(obj, *each)]
        if len(fitting) == 1 and _unknown(obj, best, obj.kind):
            message = f"kind {obj.kind} does not exist in {here}; write kind: {fitting[0][1]}"
            return MeantKind(*fitting[0], message)
        message = f"kind {obj.kind} does not exist in {here}; write apiVersion: {best}"
        return MeantKind(best, obj.kind, message)
    found = [(at, kind) for at, kind in dict.fromkeys(of_group) if _is_like(obj.kind, kind)]
    if found:
        at, kind = next((each for each in found if each[0] == obj.api_version), found[-1])
        advice = f'did you mean "{kind}"?'
        if at != obj.api_version:
            advice = f"write apiVersion: {at} and kind: {kind}"
        return MeantKind(at, kind, f"kind {obj.kind} does not exist in {here}; {advice}")
    others = [(it, kind) for it, known in kinds.items() for kind in known]
    for at, kind in others:
        if obj.kind.lower() == kind.lower():
            message = (
                f"kind {obj.kind} does not exist in {here}; write apiVersion: {at} and kind: {kind}"
            )
            return MeantKind(at, kind, message)
    return None


def of_another_group(obj: Object) -> MeantKind | None:
    """The kind of the same name in another group, if only that one has all fields of the object's spec."""
    own = schemas.served(obj.api_version, obj.kind)
    if own is None or obj.kind not in _shared():
        return None
    unknown = _unknown(obj, obj.api_version, obj.kind)
    if not unknown:
        return None
    for at in _shared()[obj.kind]:
        if _group(at) != obj.group and not _unknown(obj, at, obj.kind):
            who = "field" if len(unknown) == 1 else "fields"
            belong = "belongs" if len(unknown) == 1 else "belong"
            message = (
                f"{who} {listed(unknown, 'and')} of spec {belong} to {obj.kind} of {at}, not of {obj.api_version}; "
                f"write apiVersion: {at}"
            )
            return MeantKind(at, obj.kind, message)
    return None


def _unknown(obj: Object, api_version: str, kind: str) -> list[str]:
    """The fields of the object's spec that a kind does not have; all if its fields are not known."""
    known, written = _fields(api_version, kind), mapping(obj.data, "spec")
    return [] if written.keys() <= known else [str(it) for it in written if it not in known]


@cache
def _fields(api_version: str, kind: str) -> frozenset[str]:
    """The fields of the spec of a kind; empty if they are not known."""
    served = schemas.served(api_version, kind)
    schema: Any = served.schema if served else {}
    return frozenset(schema.get("properties", {}).get("spec", {}).get("properties", {}))


@cache
def _is_known(group: str, kind: str) -> bool:
    return any(kind in kinds for it, kinds in _kinds().items() if _group(it) == group)


def _is_like(word: str, kind: str) -> bool:
    lowered, known = word.lower(), kind.lower()
    if lowered in (known, f"{known}s"):
        return True
    return is_slip(word, kind) or SequenceMatcher(None, lowered, known).ratio() >= _ALIKE


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


@cache
def _kinds() -> Mapping[str, tuple[str, ...]]:
    """Kinds by apiVersion, the oldest version first."""
    return {**dict(_recorded()), **_BUILT_IN}


def _recorded() -> Iterator[tuple[str, tuple[str, ...]]]:
    for at, kinds in sorted(schemas.index().kinds.items()):
        yield at.removeprefix(f"{schemas.CORE}/"), tuple(kinds)


@cache
def _shared() -> Mapping[str, tuple[str, ...]]:
    """The apiVersions of kinds that recorded servers serve in several groups."""
    found: dict[str, list[str]] = {}
    for at, kinds in _recorded():
        for kind in kinds:
            found.setdefault(kind, []).append(at)
    return {
        kind: tuple(places)
        for kind, places in found.items()
        if len({_group(it) for it in places}) > 1
    }
