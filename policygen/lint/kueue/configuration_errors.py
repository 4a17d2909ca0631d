"""What Kueue's manager refuses in the values of its Configuration.

Source: pkg/config/validation.go of Kueue 0.19.2. Keys, gates, frameworks, preemption strategies and
namespaces have rules of their own.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core import quantity
from policygen.core.durations import seconds
from policygen.core.finding import Path, at_path
from policygen.core.label_grammar import value_fault
from policygen.core.quoting import shown
from policygen.kubernetes.configurations import KueueConfiguration
from policygen.kubernetes.untyped import mapping, mappings, numbered, texts
from policygen.lint.core import selectors, typed_fields
from policygen.lint.kueue import configuration_types
from policygen.lint.kueue.configuration import selector

Fault = tuple[Path, str]
"""A place in the Configuration, and what is wrong there."""

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
_COUNTS: tuple[Path, ...] = tuple(
    ("waitForPodsReady", "requeuingStrategy", name)
    for name in ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds")
)
_WORDS: tuple[tuple[Path, tuple[str, ...]], ...] = (
    (("waitForPodsReady", "requeuingStrategy", "timestamp"), ("Eviction", "Creation")),
    (("tls", "minVersion"), ("VersionTLS12", "VersionTLS13")),
    (("resources", "quotaCheckStrategy"), ("BlockUndeclared", "IgnoreUndeclared")),
)
_READ = KueueConfiguration.__struct_encode_fields__
"""Keys whose own type is judged where the file is read."""
_SELECTORS: tuple[Path, ...] = (
    ("managedJobsNamespaceSelector",),
    ("integrations", "podOptions", "namespaceSelector"),
    ("integrations", "podOptions", "podSelector"),
)
_KIND = re.compile(r"[^.]+\.[^.]+\..+")
"""`Kind.version.group`."""


def faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    """Everything that the manager would name before it exits."""
    written = {key: it for key, it in data.items() if key not in _READ or isinstance(it, dict)}
    yield from typed_fields.faults(written, configuration_types.FIELDS)
    yield from _scalars(data)
    yield from _selectors(data)
    yield from _frameworks(data)
    yield from _resources(data)
    yield from _devices(data)
    yield from _multi_kueue(data)
    origin = at_path(data, ("multiKueue", "origin"))
    if isinstance(origin, str) and (fault := value_fault(origin)):
        yield ("multiKueue", "origin"), fault
    tls = data.get("tls")
    if (
        isinstance(tls, dict)
        and tls.get("minVersion") == "VersionTLS13"
        and tls.get("cipherSuites")
    ):
        yield ("tls", "cipherSuites"), "TLS 1.3 has no cipher suites to choose; take them out"


def _selectors(data: Mapping[str, Any]) -> Iterator[Fault]:
    for way in _SELECTORS:
        found = selector(at_path(data, way))
        for path, fault in selectors.faults(found) if found else ():
            yield (*way, *path), fault


def _scalars(data: Mapping[str, Any]) -> Iterator[Fault]:
    for path in _DURATIONS:
        text = at_path(data, path)
        duration = seconds(text)
        if text is not None and duration is None:
            yield path, f"{text!r} is no duration; write one such as 5m"
        elif duration is not None and duration < 0:
            yield path, f"{text} is negative; write 0s or more"
    for path in _COUNTS:
        count = at_path(data, path)
        if isinstance(count, int) and count < 0:
            yield path, f"{count} is negative; write 0 or more"
    for path, words in _WORDS:
        word = at_path(data, path)
        if word is not None and word not in words:
            yield path, f"{word!r} is not known; write {' or '.join(words)}"
    yield from _numbers(data)


def _numbers(data: Mapping[str, Any]) -> Iterator[Fault]:
    for name, weight in mapping(data, "admissionFairSharing", "resourceWeights").items():
        if isinstance(weight, int | float) and weight < 0:
            path = ("admissionFairSharing", "resourceWeights", name)
            yield path, f"{weight} is negative; write 0 or more"
    port = at_path(data, ("visibilityServer", "bindPort"))
    if isinstance(port, int) and not 0 < port < 65536:
        yield ("visibilityServer", "bindPort"), f"{port} is no port; write one of 1 to 65535"


def _frameworks(data: Mapping[str, Any]) -> Iterator[Fault]:
    way: Path = ("integrations", "externalFrameworks")
    yield from _kinds(way, texts(at_path(data, way)))
    way = ("multiKueue", "externalFrameworks")
    names = [str(each.get("name", "")) for each in mappings(at_path(data, way))]
    yield from _kinds(way, tuple(names))


def _kinds(way: Path, names: tuple[str, ...]) -> Iterator[Fault]:
    for i, name in enumerate(names):
        if not _KIND.fullmatch(name):
            yield (*way, i), f"{name!r} is no Kind.version.group; write one such as Job.v1.batch"
        elif name in names[:i]:
            yield (*way, i), f"{name} is listed twice; take one out"


def _resources(data: Mapping[str, Any]) -> Iterator[Fault]:
    resources = data.get("resources")
    if not isinstance(resources, dict):
        return
    ignores = resources.get("quotaCheckStrategy") == "IgnoreUndeclared"
    if ignores and resources.get("excludeResourcePrefixes"):
        yield (
            ("resources", "quotaCheckStrategy"),
            "IgnoreUndeclared does not go with excludeResourcePrefixes; take one of them out",
        )
    seen: set[str] = set()
    for i, each in numbered(resources, "transformations"):
        way: Path = ("resources", "transformations", i)
        if each.get("strategy") not in (None, "Retain", "Replace"):
            yield (*way, "strategy"), f"{each['strategy']!r} is not known; write Retain or Replace"
        for name, amount in mapping(each, "outputs").items():
            if not _is_quantity(amount):
                yield (
                    (*way, "outputs", name),
                    f"{shown(amount)} is no quantity; write one such as 1",
                )
        resource = each.get("input")
        if not isinstance(resource, str):
            continue
        if resource in seen:
            yield (*way, "input"), f"{resource} is transformed twice; take one out"
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
        yield root, f"{len(found)} mappings are more than 16; take some out"
    names = Counter(str(each.get("name")) for each in found)
    owners: dict[str, str] = {}
    for i, each in enumerate(found):
        name, classes = str(each.get("name")), texts(each.get("deviceClassNames"))
        if names[name] > 1:
            yield (*root, i, "name"), f"{name} is mapped twice; put its classes together"
        if not 1 <= len(classes) <= 8:
            yield (*root, i), f"{name} has {len(classes)} device classes; write 1 to 8"
        for j, it in enumerate(classes):
            owner = owners.setdefault(it, name)
            if it in classes[:j] or (owner != name and not _counts(each)):
                yield (*root, i, "deviceClassNames", j), f"{it} is mapped twice; take one out"


def _counts(mapping: Mapping[str, Any]) -> bool:
    """Whether it counts a dimension of its devices, of which a class may have several."""
    return any("counter" in source for source in mappings(mapping.get("sources")))


def _multi_kueue(data: Mapping[str, Any]) -> Iterator[Fault]:
    stanza = data.get("multiKueue")
    if not isinstance(stanza, dict):
        return
    incremental = stanza.get("incrementalDispatcherConfig")
    if incremental is not None and stanza.get("dispatcherName") != INCREMENTAL:
        yield (
            ("multiKueue", "incrementalDispatcherConfig"),
            f"it goes with the incremental dispatcher only; write dispatcherName: {INCREMENTAL}",
        )
    step = at_path(stanza, ("incrementalDispatcherConfig", "stepSize"))
    if isinstance(step, int) and step < 1:
        path = ("multiKueue", "incrementalDispatcherConfig", "stepSize")
        yield path, f"{step} is too small; write 1 or more"
    profile = stanza.get("clusterProfile")
    if isinstance(profile, dict) and (
        profile.get("accessProviders") and profile.get("credentialsProviders")
    ):
        yield (
            ("multiKueue", "clusterProfile", "credentialsProviders"),
            "it does not go with accessProviders; take it out",
        )
