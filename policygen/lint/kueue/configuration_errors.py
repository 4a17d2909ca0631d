"""The values of Kueue's Configuration that its manager refuses.

Source: pkg/config/validation.go of Kueue 0.19.2. Other rules check keys, gates, frameworks,
preemption strategies and namespaces.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core import quantity
from policygen.core.durations import seconds
from policygen.core.finding import Fault, Path, at_path
from policygen.core.label_grammar import key_fault, value_fault
from policygen.core.quoting import quoted, shown
from policygen.kubernetes.configurations import KueueConfigurationView
from policygen.kubernetes.kueue_settings import DEFAULT_FRAMEWORKS, selector
from policygen.kubernetes.untyped import entries, mapping, mappings, numbered, texts
from policygen.lint.core import selectors, typed_fields
from policygen.lint.core.typed_fields import Fields
from policygen.lint.kueue import configuration_servers, configuration_types

INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"

_DURATIONS: tuple[Path, ...] = (
    ("waitForPodsReady", "timeout"),
    ("waitForPodsReady", "recoveryTimeout"),
    ("multiKueue", "gcInterval"),
    ("multiKueue", "workerLostTimeout"),
    ("admissionFairSharing", "usageHalfLifeTime"),
    ("admissionFairSharing", "usageSamplingInterval"),
    ("objectRetentionPolicies", "workloads", "afterFinished"),
    ("objectRetentionPolicies", "workloads", "afterDeactivatedByKueue"),
)
_REQUIRED = (
    ("waitForPodsReady", "timeout"),
    *(("admissionFairSharing", f"usage{it}") for it in ("HalfLifeTime", "SamplingInterval")),
    *(("leaderElection", it) for it in ("leaseDuration", "renewDeadline", "retryPeriod")),
)
"""Durations that Go also decodes if they are empty; timeout only in v1beta2."""
_COUNTS: tuple[Path, ...] = tuple(
    ("waitForPodsReady", "requeuingStrategy", name)
    for name in ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds")
)
_WORDS: tuple[tuple[Path, tuple[str, ...]], ...] = (
    (("waitForPodsReady", "requeuingStrategy", "timestamp"), ("Eviction", "Creation")),
    (("tls", "minVersion"), ("VersionTLS12", "VersionTLS13", "")),
)
_STRATEGIES = ("BlockUndeclared", "IgnoreUndeclared")
_READ = KueueConfigurationView.__struct_encode_fields__
"""Keys whose own type is checked when the file is read."""
_KINDS = {
    "batch/job": "Job.v1.batch",
    "deployment": "Deployment.v1.apps",
    "jobset.x-k8s.io/jobset": "JobSet.v1alpha2.jobset.x-k8s.io",
    "kubeflow.org/jaxjob": "JAXJob.v1.kubeflow.org",
    "kubeflow.org/mpijob": "MPIJob.v2beta1.kubeflow.org",
    "kubeflow.org/paddlejob": "PaddleJob.v1.kubeflow.org",
    "kubeflow.org/pytorchjob": "PyTorchJob.v1.kubeflow.org",
    "kubeflow.org/tfjob": "TFJob.v1.kubeflow.org",
    "kubeflow.org/xgboostjob": "XGBoostJob.v1.kubeflow.org",
    "leaderworkerset.x-k8s.io/leaderworkerset": "LeaderWorkerSet.v1.leaderworkerset.x-k8s.io",
    "pod": "Pod.v1.",
    "ray.io/raycluster": "RayCluster.v1.ray.io",
    "ray.io/rayjob": "RayJob.v1.ray.io",
    "ray.io/rayservice": "RayService.v1.ray.io",
    "sparkoperator.k8s.io/sparkapplication": "SparkApplication.v1beta2.sparkoperator.k8s.io",
    "statefulset": "StatefulSet.v1.apps",
    "trainer.kubeflow.org/trainjob": "TrainJob.v1alpha1.trainer.kubeflow.org",
    "workload.codeflare.dev/appwrapper": "AppWrapper.v1beta2.workload.codeflare.dev",
}
"""The kinds of integrations."""
_LOCAL = frozenset({_KINDS["deployment"], _KINDS["sparkoperator.k8s.io/sparkapplication"]})
"""Kinds of integrations without support for MultiKueue."""
_PROVIDERS = ("accessProviders", "credentialsProviders")
_PLUGIN = ("command", "apiVersion", "interactiveMode")
"""Required fields of an exec plugin."""
_MODES = ("Never", "IfAvailable", "Always")
_SELECTORS: tuple[Path, ...] = (
    ("managedJobsNamespaceSelector",),
    ("integrations", "podOptions", "namespaceSelector"),
    ("integrations", "podOptions", "podSelector"),
)
_NAMES: tuple[Path, ...] = (
    ("integrations", "frameworks"),
    ("integrations", "externalFrameworks"),
    ("tls", "cipherSuites"),
)
"""Lists of names, in which an empty entry is refused."""
_KIND = re.compile(r"[^.]*\.[^.]*\..*")
"""`Kind.version.group`."""


def faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    """Every invalid value, as the manager reports them before it exits."""
    data = _filled(data, configuration_types.FIELDS)
    old = str(data.get("apiVersion", "")).endswith("/v1beta1")
    waits = not old or at_path(data, ("waitForPodsReady", "enable")) is True
    written = {
        key: value for key, value in data.items() if key not in _READ or isinstance(value, dict)
    }
    yield from typed_fields.faults(
        written, configuration_types.FIELDS, lists=configuration_types.LISTS
    )
    yield from _scalars(data if waits else {**data, "waitForPodsReady": None})
    yield from _empty_durations(data, old=old)
    yield from _selectors(data)
    yield from _frameworks(data)
    yield from _built_in(data)
    yield from _resources(data)
    yield from _devices(data)
    yield from _multi_kueue(data)
    origin = at_path(data, ("multiKueue", "origin"))
    if isinstance(origin, str) and (fault := value_fault(origin)):
        yield ("multiKueue", "origin"), fault
    namespace = data.get("namespace")
    is_selected = data.get("managedJobsNamespaceSelector") is None
    if is_selected and isinstance(namespace, str) and (fault := value_fault(namespace)):
        yield ("namespace",), fault
    yield from configuration_servers.faults(data)
    yield from _empty_entries(data)


def _filled(data: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """The data with a mapping for each empty entry of a list of mappings, as Go reads it."""
    found = dict(data)
    for key, value in data.items():
        inner = fields.get(key)
        if isinstance(inner, Mapping) and isinstance(value, dict):
            found[key] = _filled(value, inner)
        elif isinstance(inner, Mapping) and isinstance(value, list):
            found[key] = [
                _filled(it or {}, inner) if isinstance(it, dict | None) else it for it in value
            ]
    return found


def _empty_entries(data: Mapping[str, Any]) -> Iterator[Fault]:
    for path in _NAMES:
        found = at_path(data, path)
        for i, name in enumerate(found if isinstance(found, list) else ()):
            if name is None:
                yield (*path, i), "the entry is empty; write a name, or remove the entry"


def _selectors(data: Mapping[str, Any]) -> Iterator[Fault]:
    for root in _SELECTORS:
        found = selector(at_path(data, root))
        for path, fault in selectors.faults(found) if found else ():
            yield (*root, *path), fault


def _scalars(data: Mapping[str, Any]) -> Iterator[Fault]:
    for path in _DURATIONS:
        text = at_path(data, path)
        duration = seconds(text)
        if duration is not None and duration < 0:
            yield path, f"{text} is negative; write 0s or more"
    for path in _COUNTS:
        count = at_path(data, path)
        if isinstance(count, int) and count < 0:
            yield path, f"{count} is negative; write 0 or more"
    for path, words in _WORDS:
        word = at_path(data, path)
        if word is not None and word not in words:
            yield path, f"value {shown(word)} is unknown; write {' or '.join(filter(None, words))}"
    yield from _numbers(data)


def _empty_durations(data: Mapping[str, Any], *, old: bool) -> Iterator[Fault]:
    for path in _REQUIRED:
        optional = old and path[0] == "waitForPodsReady"
        section = mapping(data, path[0])
        if not optional and path[1] in section and section[path[1]] is None:
            yield path, f"the duration is empty; write a duration, or remove {path[1]}"


def _numbers(data: Mapping[str, Any]) -> Iterator[Fault]:
    for name, weight in mapping(data, "admissionFairSharing", "resourceWeights").items():
        if isinstance(weight, int | float) and weight < 0:
            path = ("admissionFairSharing", "resourceWeights", name)
            yield path, f"{weight} is negative; write 0 or more"


def _frameworks(data: Mapping[str, Any]) -> Iterator[Fault]:
    root: Path = ("integrations", "externalFrameworks")
    yield from _kinds(root, texts(at_path(data, root)))
    root = ("multiKueue", "externalFrameworks")
    names = [str(framework.get("name", "")) for framework in mappings(at_path(data, root))]
    yield from _kinds(root, tuple(names))


def _built_in(data: Mapping[str, Any]) -> Iterator[Fault]:
    """External kinds that an enabled integration has already."""
    enabled = texts(at_path(data, ("integrations", "frameworks"))) or DEFAULT_FRAMEWORKS
    kinds = {_KINDS[name] for name in enabled if name in _KINDS}
    own, remote = ("integrations", "externalFrameworks"), ("multiKueue", "externalFrameworks")
    places: list[tuple[Path, Any]] = [
        *(((*own, i), name) for i, name in enumerate(entries(data, *own))),
        *(((*remote, i), it.get("name")) for i, it in numbered(data, *remote)),
    ]
    for path, name in places:
        if isinstance(name, str) and name in kinds and not (path[:2] == remote and name in _LOCAL):
            yield path, f"{name} has an integration that is enabled; remove this entry"


def _kinds(root: Path, names: tuple[str, ...]) -> Iterator[Fault]:
    for i, name in enumerate(names):
        if not _KIND.fullmatch(name):
            fault = f"{shown(name)} does not have the form Kind.version.group; write a name such as Job.v1.batch"
            yield (*root, i), fault
        elif name in names[:i]:
            yield (*root, i), f"{name} is listed twice; remove one of the two entries"


def _resources(data: Mapping[str, Any]) -> Iterator[Fault]:
    resources = data.get("resources")
    if not isinstance(resources, dict):
        return
    strategy = resources.get("quotaCheckStrategy")
    if mapping(data, "featureGates").get("QuotaCheckStrategy", True) is not True:
        strategy = None  # the manager does not read it
    if strategy is not None and strategy not in _STRATEGIES:
        path: Path = ("resources", "quotaCheckStrategy")
        yield path, f"value {shown(strategy)} is unknown; write {' or '.join(_STRATEGIES)}"
    if strategy == "IgnoreUndeclared" and resources.get("excludeResourcePrefixes"):
        yield (
            ("resources", "quotaCheckStrategy"),
            "IgnoreUndeclared cannot be combined with excludeResourcePrefixes; remove one of them",
        )
    yield from _transformations(resources)


def _transformations(resources: Mapping[str, Any]) -> Iterator[Fault]:
    seen: set[str] = set()
    for i, rule in numbered(resources, "transformations"):
        root: Path = ("resources", "transformations", i)
        if rule.get("strategy") not in (None, "", "Retain", "Replace"):
            yield (
                (*root, "strategy"),
                f"strategy {shown(rule['strategy'])} is unknown; write Retain or Replace",
            )
        for name, amount in mapping(rule, "outputs").items():
            if amount is not None and not _is_quantity(amount):
                yield (
                    (*root, "outputs", name),
                    f"{shown(amount)} is not a valid quantity; write a quantity such as 1",
                )
        resource = rule.get("input") or ""
        if not isinstance(resource, str):
            continue
        if resource in seen:
            yield (
                (*root, "input"),
                f"resource {quoted(resource)} has two transformations; remove one of them",
            )
        seen.add(resource)


def _is_quantity(amount: Any) -> bool:
    try:
        quantity.parse(amount)
    except (TypeError, ValueError):
        return False
    return True


def _devices(data: Mapping[str, Any]) -> Iterator[Fault]:
    root: Path = ("resources", "deviceClassMappings")
    found = mappings(at_path(data, root))
    if len(found) > 16:
        yield (
            root,
            f"deviceClassMappings has {len(found)} entries, but Kueue accepts at most 16; remove some of them",
        )
    names = Counter(str(mapped.get("name")) for mapped in found)
    owners: dict[str, str] = {}
    for i, mapped in enumerate(found):
        name, classes = str(mapped.get("name") or ""), texts(mapped.get("deviceClassNames"))
        yield from (((*root, i, *path), fault) for path, fault in _device(name, mapped))
        if names[name] > 1:
            yield (
                (*root, i, "name"),
                f"two deviceClassMappings have the name {name}; list their device classes in one mapping",
            )
        if not 1 <= len(classes) <= 8:
            yield (
                (*root, i),
                f"device class mapping {name} has {len(classes)} device classes; write 1 to 8 device classes",
            )
        for j, device_class in enumerate(classes):
            owner = owners.setdefault(device_class, name)
            if device_class in classes[:j] or (owner != name and not _has_counter(mapped)):
                path = (*root, i, "deviceClassNames", j)
                yield (
                    path,
                    f"device class {device_class} is listed twice; remove one of the two entries",
                )


def _device(name: str, mapped: Mapping[str, Any]) -> Iterator[Fault]:
    """The faults of one mapping without its place."""
    if isinstance(mapped.get("name"), str | None) and (fault := key_fault(name)):
        yield ("name",), fault
    for j, device_class in enumerate(entries(mapped, "deviceClassNames")):
        if isinstance(device_class, str | None) and (fault := key_fault(device_class or "")):
            yield ("deviceClassNames", j), fault
    for j, source in numbered(mapped, "sources"):
        kinds = [it for it in ("counter", "capacity") if source.get(it) is not None]
        if len(kinds) != 1:
            yield ("sources", j), "a source needs either counter or capacity; write one of them"


def _has_counter(mapped: Mapping[str, Any]) -> bool:
    """Whether a mapping counts a dimension of its devices, of which a class may have several."""
    return any("counter" in source for source in mappings(mapped.get("sources")))


def _providers(profile: Mapping[str, Any]) -> Iterator[Fault]:
    """Incomplete exec plugins; only one of the two lists is read."""
    listed = next((it for it in _PROVIDERS if profile.get(it)), _PROVIDERS[0])
    for i, provider in numbered(profile, listed):
        plugin = mapping(provider, "execConfig")
        places = ((provider, ("name",)), *((plugin, ("execConfig", it)) for it in _PLUGIN))
        for owner, path in places:
            if not owner.get(path[-1]):
                yield (listed, i, *path), f"{path[-1]} of a provider is not set; write {path[-1]}"
        mode = plugin.get("interactiveMode")
        if mode and mode not in _MODES:
            fault = (
                f"value {shown(mode)} is unknown; write {', '.join(_MODES[:-1])} or {_MODES[-1]}"
            )
            yield (listed, i, "execConfig", "interactiveMode"), fault
        for j, variable in numbered(plugin, "env"):
            if not variable.get("name"):
                yield (listed, i, "execConfig", "env", j), "a variable has no name; write name"


def _multi_kueue(data: Mapping[str, Any]) -> Iterator[Fault]:
    stanza = data.get("multiKueue")
    if not isinstance(stanza, dict):
        return
    incremental = stanza.get("incrementalDispatcherConfig")
    if incremental is not None and stanza.get("dispatcherName") != INCREMENTAL:
        yield (
            ("multiKueue", "incrementalDispatcherConfig"),
            f"the incremental dispatcher is not enabled; write dispatcherName: {INCREMENTAL}",
        )
    step = at_path(stanza, ("incrementalDispatcherConfig", "stepSize"))
    if isinstance(step, int) and step < 1:
        path = ("multiKueue", "incrementalDispatcherConfig", "stepSize")
        yield path, f"stepSize {step} is too small; write 1 or more"
    root: Path = ("multiKueue", "clusterProfile")
    yield from (
        ((*root, *path), fault) for path, fault in _providers(mapping(stanza, "clusterProfile"))
    )
    profile = stanza.get("clusterProfile")
    if isinstance(profile, dict) and (
        profile.get("accessProviders") and profile.get("credentialsProviders")
    ):
        yield (
            ("multiKueue", "clusterProfile", "credentialsProviders"),
            "credentialsProviders cannot be combined with accessProviders; remove credentialsProviders",
        )
