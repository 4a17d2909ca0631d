"""What Kueue's Configuration amounts to, whichever version it is written in, defaults included."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from msgspec import Struct

from policygen.core import quantity
from policygen.core.names import KUBE_SYSTEM, KUEUE_NAMESPACE, NAMESPACE_NAME
from policygen.core.versions import KUEUE_WAITS, Version
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.configurations import KueueConfiguration
from policygen.kubernetes.controllers import KUEUE, controllers
from policygen.kubernetes.core import LabelSelector, Requirement
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import keyed_texts, mapping, mappings, texts
from policygen.lint.core.selectors import requirements
from policygen.lint.kueue import feature_gates
from policygen.lint.rule import Facts

DEFAULT_FRAMEWORKS = ("batch/job",)

USAGE_BASED = "UsageBasedAdmissionFairSharing"
"""The admissionMode of queues that share by what their LocalQueues used."""


class Transformation(Struct, frozen=True, eq=False):
    """What a resource is counted as."""

    outputs: Mapping[str, Fraction]
    multiply_by: str
    retains: bool
    """Whether the input is counted too."""


class Settings(Struct, frozen=True, eq=False):
    """One Configuration, or without it Kueue's defaults."""

    entry: Entry[KueueConfiguration] | None
    target: Version
    cluster: Cluster
    fair_sharing: bool
    frameworks: tuple[str, ...]
    external_frameworks: tuple[str, ...]
    excluded: tuple[str, ...]
    """Prefixes of resources that are not counted."""
    transformations: Mapping[str, Transformation]
    """By input."""
    devices: tuple[str, ...]
    """Names that device classes are counted under."""
    managed: LabelSelector
    """Namespaces whose jobs it manages."""

    def gate(self, name: str) -> bool:
        """Whether a feature gate is on. What its command line says takes the Configuration's place.

        Source: pkg/config/validation.go, LoadAndValidateFeatureGates.
        """
        written = self.cluster.derive(on_command_line)
        if not written and self.entry:
            written = self.entry.it.feature_gates
        return written.get(name, feature_gates.on(name, self.target))

    @property
    def admission_fair_sharing(self) -> bool:
        """Whether what LocalQueues used counts."""
        written = self.entry is not None and self.entry.it.admission_fair_sharing is not None
        return written and self.gate("AdmissionFairSharing")

    @property
    def waits_for_pods(self) -> bool:
        """Whether it waits for the pods of an admitted workload to be ready."""
        stanza = self.entry.it.wait_for_pods_ready if self.entry else None
        old = self.entry is not None and self.entry.object.version == "v1beta1"
        waits = _switched(stanza, old=old) or (
            stanza is None and not old and self.target.release >= KUEUE_WAITS
        )
        return waits and not self.gate("DisableWaitForPodsReady")

    @property
    def ignores_undeclared(self) -> bool:
        """Whether resources that a queue does not cover are not counted."""
        resources = (self.entry.it.resources if self.entry else None) or {}
        ignores = resources.get("quotaCheckStrategy") == "IgnoreUndeclared"
        return ignores and self.gate("QuotaCheckStrategy")

    def excludes(self, resource: str) -> bool:
        """Whether a resource is left out of all accounts."""
        return resource.startswith(self.excluded)

    def makes(self, resource: str) -> bool:
        """Whether it is a name of Kueue's own, which no node has."""
        if resource in self.devices:
            return True
        return any(resource in each.outputs for each in self.transformations.values())

    def charged(self, requests: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """What requests count as: prefixes are left out, then transformations are made.

        Source: pkg/workload/workload.go, dropExcludedResources, applyResourceTransformations.
        """
        counted: dict[str, Fraction] = {}
        for name, amount in requests.items():
            if self.excludes(name):
                continue
            each = self.transformations.get(name)
            if each is None or each.retains:
                counted[name] = counted[name] + amount if name in counted else amount
            if each is not None:
                times = amount * requests.get(each.multiply_by, Fraction(1))
                for output, factor in each.outputs.items():
                    counted[output] = counted.get(output, Fraction(0)) + times * factor
        return counted


def settings(facts: Facts) -> Settings:
    """Those of the first Configuration in the input; the defaults if there is none."""
    return first(facts.cluster, facts.target["kueue"])


def first(cluster: Cluster, target: Version) -> Settings:
    """The same of a cluster."""
    entries = cluster.kueue_configurations
    return _of(entries[0] if len(entries) else None, target, cluster)


def all_settings(facts: Facts) -> Iterator[tuple[Entry[KueueConfiguration], Settings]]:
    """Every Configuration with what it amounts to."""
    for entry in facts.cluster.kueue_configurations:
        yield entry, _of(entry, facts.target["kueue"], facts.cluster)


def on_command_line(cluster: Cluster) -> Mapping[str, bool]:
    """The gates that Kueue's Deployment switches; use it with `cluster.derive`."""
    for it in controllers(cluster.of("apps", "Deployment")):
        if it.component == KUEUE and it.gates:
            return it.gates
    return {}


def _of(entry: Entry[KueueConfiguration] | None, target: Version, cluster: Cluster) -> Settings:
    """What a Configuration amounts to for a release.

    Source: apis/config/v1beta2/defaults.go and v1beta1/configuration_conversion.go.
    """
    it = entry.it if entry else KueueConfiguration()
    old = entry is not None and entry.object.version == "v1beta1"
    integrations, resources = it.integrations or {}, it.resources or {}
    return Settings(
        entry=entry,
        target=target,
        cluster=cluster,
        fair_sharing=_switched(it.fair_sharing, old=old),
        frameworks=texts(integrations.get("frameworks")) or DEFAULT_FRAMEWORKS,
        external_frameworks=texts(integrations.get("externalFrameworks")),
        excluded=texts(resources.get("excludeResourcePrefixes")),
        transformations={
            str(each.get("input")): _transformation(each)
            for each in mappings(resources.get("transformations"))
        },
        devices=tuple(
            str(each.get("name")) for each in mappings(resources.get("deviceClassMappings"))
        ),
        managed=selector(it.managed_jobs_namespace_selector)
        or LabelSelector(
            match_expressions=(
                Requirement(
                    NAMESPACE_NAME, "NotIn", (KUBE_SYSTEM, it.namespace or KUEUE_NAMESPACE)
                ),
            )
        ),
    )


def selector(data: Any) -> LabelSelector | None:
    """A label selector as it was written, typed; None if there is none."""
    if not isinstance(data, dict):
        return None
    return LabelSelector(
        match_labels=dict(keyed_texts(data, "matchLabels")),
        match_expressions=requirements(data.get("matchExpressions")),
    )


def _transformation(data: Mapping[str, Any]) -> Transformation:
    return Transformation(
        outputs={name: _factor(factor) for name, factor in mapping(data, "outputs").items()},
        multiply_by=str(data.get("multiplyBy") or ""),
        retains=data.get("strategy") != "Replace",
    )


def _factor(text: Any) -> Fraction:
    try:
        return quantity.parse(text).value
    except ValueError:
        return Fraction(1)  # the manager would not start with it


def _switched(stanza: Mapping[str, Any] | None, *, old: bool) -> bool:
    """Whether a stanza is on: in v1beta2 by being there."""
    return stanza is not None and (not old or stanza.get("enable") is True)
