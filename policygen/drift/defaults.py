"""Facts about objects that are not in schemas: defaults that code sets, and fields of other owners.

Sources: k8s.io/kubernetes 1.36.3, pkg/apis/{apps,core,rbac,scheduling}/v1/defaults.go; Volcano
1.14.1, pkg/webhooks/admission/queues/mutate.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any

from policygen.client.projection import without_values
from policygen.core.finding import Path
from policygen.core.names import DEFAULT_SCHEDULER
from policygen.kubernetes.untyped import mapping, mappings

Data = dict[str, Any]

_FOREIGN: dict[str, tuple[Path, ...]] = {
    "Namespace": (("spec",),),
    "ServiceAccount": (("secrets",), ("imagePullSecrets",)),
    "Deployment": (
        ("spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt"),
    ),
}


def foreign(kind: str) -> Sequence[Path]:
    """Fields that other tools write, apart from metadata and status; ours only if we render them.

    Examples: finalizers of a Namespace, tokens of a ServiceAccount, the annotation of `kubectl
    rollout restart`.
    """
    return _FOREIGN.get(kind, ())


def filled(data: Data, api_version: str, kind: str) -> Data:
    """A copy of an object in which missing fields have the defaults that code sets.

    The caller may change its top level, and its `foreign` fields.
    """
    fill = _FILL.get((api_version.rpartition("/")[0], kind))
    if fill is None and all(len(path) == 1 for path in foreign(kind)):
        return dict(data)  # callers change only its top level
    made = copy.deepcopy(data)
    if fill is not None:
        fill(made)
    return made


def _default(data: Data, **values: Any) -> None:
    for name, value in values.items():
        if data.get(name) is None:
            data[name] = value


def _priority_class(data: Data) -> None:
    _default(data, preemptionPolicy="PreemptLowerPriority", globalDefault=False)


def _limit_range(data: Data) -> None:
    for item in mappings(data, "spec", "limits"):
        if item.get("type") == "Container":
            limits = {**mapping(item, "max"), **mapping(item, "default")}
            requests = {**mapping(item, "min"), **limits, **mapping(item, "defaultRequest")}
            item.update({"default": limits} if limits else {})
            item.update({"defaultRequest": requests} if requests else {})


def _binding(data: Data) -> None:
    rbac = "rbac.authorization.k8s.io"
    _default(mapping(data, "roleRef"), apiGroup=rbac)
    for subject in mappings(data, "subjects"):
        _default(subject, apiGroup="" if subject.get("kind") == "ServiceAccount" else rbac)


def _queue(data: Data) -> None:
    _default(mapping(data, "spec"), reclaimable=True, parent="root")


def _deployment(data: Data) -> None:
    spec = mapping(data, "spec")
    _default(
        spec,
        replicas=1,
        revisionHistoryLimit=10,
        progressDeadlineSeconds=600,
        strategy={},
    )
    strategy = mapping(spec, "strategy")
    _default(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _default(strategy, rollingUpdate={})
        _default(mapping(strategy, "rollingUpdate"), maxSurge="25%", maxUnavailable="25%")
    _pod(mapping(spec, "template", "spec"))


def _pod(spec: Data) -> None:
    _default(
        spec,
        restartPolicy="Always",
        terminationGracePeriodSeconds=30,
        dnsPolicy="ClusterFirst",
        schedulerName=DEFAULT_SCHEDULER,
        enableServiceLinks=True,
    )
    if "serviceAccountName" in spec:
        _default(spec, serviceAccount=spec["serviceAccountName"])
    for container in (*mappings(spec, "containers"), *mappings(spec, "initContainers")):
        _container(container)
    for volume in mappings(spec, "volumes"):
        for source in ("configMap", "secret", "projected", "downwardAPI"):
            if source in volume:
                _default(mapping(volume, source), defaultMode=0o644)


def _container(container: Data) -> None:
    kept = without_values(container)  # snapshots have no more data about it
    container.clear()
    container.update(kept)
    image = str(container.get("image", ""))
    name = image.rpartition("/")[2]
    newest = "@" not in image and (":" not in name or name.endswith(":latest"))
    _default(
        container,
        imagePullPolicy="Always" if newest else "IfNotPresent",
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if name in container:
            probe = mapping(container, name)
            _default(
                probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3
            )
            if "httpGet" in probe:
                _default(mapping(probe, "httpGet"), path="/", scheme="HTTP")
    for port in mappings(container, "ports"):
        _default(port, protocol="TCP")
    resources = mapping(container, "resources")
    if "limits" in resources:
        limits = mapping(resources, "limits")
        resources["requests"] = {**limits, **mapping(resources, "requests")}


_FILL: dict[tuple[str, str], Callable[[Data], None]] = {
    ("scheduling.k8s.io", "PriorityClass"): _priority_class,
    ("", "LimitRange"): _limit_range,
    ("rbac.authorization.k8s.io", "RoleBinding"): _binding,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _binding,
    ("scheduling.volcano.sh", "Queue"): _queue,
    ("apps", "Deployment"): _deployment,
}
