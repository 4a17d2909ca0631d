"""The effective settings of Kueue's Configuration, with defaults, for each API version."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from msgspec import Struct

from policygen.core import quantity
from policygen.core.names import KUBE_SYSTEM, KUEUE_NAMESPACE, NAMESPACE_NAME
from policygen.core.versions import KUEUE_WAITS, Version
from policygen.kubernetes import kueue_gates
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.configurations import KueueConfigurationView
from policygen.kubernetes.controllers import KUEUE, Controller, controllers
from policygen.kubernetes.core import LabelSelector, Requirement, requirements
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping, mappings, texts

DEFAULT_FRAMEWORKS = ("batch/job",)

USAGE_BASED = "UsageBasedAdmissionFairSharing"
"""The admissionMode of queues that order LocalQueues by their past usage."""


class Transformation(Struct, frozen=True, eq=False):
    """How Kueue converts a resource before it counts it."""

    outputs: Mapping[str, Fraction]
    multiply_by: str
    retains: bool
    """Whether the input resource is counted too."""


class Settings(Struct, frozen=True, eq=False):
    """The effective settings of one Configuration, or Kueue's defaults without one."""

    entry: Entry[KueueConfigurationView] | None
    target: Version
    cluster: Cluster
    fair_sharing: bool
    frameworks: tuple[str, ...]
    external_frameworks: tuple[str, ...]
    excluded: tuple[str, ...]
    """Prefixes of resources that Kueue does not count."""
    transformations: Mapping[str, Transformation]
    """By input resource."""
    devices: tuple[str, ...]
    """Resource names under which device classes are counted."""
    managed: LabelSelector
    """Selects the namespaces whose jobs Kueue manages."""

    def gate(self, name: str) -> bool:
        """Whether a feature gate is on. The command line replaces the gates of the Configuration.

        Source: pkg/config/validation.go, LoadAndValidateFeatureGates.
        """
        written = self.cluster.derive(on_command_line)
        if not written and self.entry:
            gates = mapping(self.entry.object.data, "featureGates")
            written = {gate: on is True for gate, on in gates.items()}
        on = kueue_gates.on(name, self.target)
        if not kueue_gates.locked(name, self.target):
            on = written.get("AllBeta" if kueue_gates.beta(name, self.target) else "AllAlpha", on)
        return written.get(name, on)

    @property
    def admission_fair_sharing(self) -> bool:
        """Whether Kueue orders LocalQueues by their past usage."""
        written = self.entry is not None and self.entry.fields.admission_fair_sharing is not None
        return written and self.gate("AdmissionFairSharing")

    @property
    def waits_for_pods(self) -> bool:
        """Whether Kueue waits until the pods of an admitted workload are ready."""
        stanza = self.entry.fields.wait_for_pods_ready if self.entry else None
        old = self.entry is not None and self.entry.object.version == "v1beta1"
        waits = _switched(stanza, old=old) or (
            stanza is None and not old and self.target.release >= KUEUE_WAITS
        )
        return waits and not self.gate("DisableWaitForPodsReady")

    @property
    def ignores_undeclared(self) -> bool:
        """Whether Kueue ignores resources that a queue does not cover."""
        resources = (self.entry.fields.resources if self.entry else None) or {}
        ignores = resources.get("quotaCheckStrategy") == "IgnoreUndeclared"
        return ignores and self.gate("QuotaCheckStrategy")

    def excludes(self, resource: str) -> bool:
        """Whether Kueue does not count a resource at all."""
        return resource.startswith(self.excluded)

    def makes(self, resource: str) -> bool:
        """Whether Kueue itself creates a resource name, which no node has."""
        if resource in self.devices:
            return True
        return any(resource in rule.outputs for rule in self.transformations.values())

    def charged(self, requests: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """The amounts that Kueue counts for requests: without excluded prefixes, then transformed.

        Factors can be negative, but the outputs of a resource cannot add up to less than 0.
        Source: pkg/workload/workload.go, dropExcludedResources, applyResourceTransformations.
        """
        counted: dict[str, Fraction] = {}
        made: dict[str, Fraction] = {}
        for name, amount in requests.items():
            if self.excludes(name):
                continue
            transformation = self.transformations.get(name)
            if transformation is None or transformation.retains:
                counted[name] = amount
            if transformation is not None:
                times = amount * requests.get(transformation.multiply_by, Fraction(1))
                for output, factor in transformation.outputs.items():
                    made[output] = made.get(output, Fraction(0)) + times * factor
        for output, amount in made.items():
            counted[output] = counted.get(output, Fraction(0)) + max(amount, Fraction(0))
        return counted


def first(cluster: Cluster, target: Version) -> Settings:
    """The settings of the first Configuration in a cluster; the defaults without one."""
    entries = cluster.kueue_configurations
    return of(entries[0] if len(entries) else None, target, cluster)


def on_command_line(cluster: Cluster) -> Mapping[str, bool]:
    """The gates on the command line of Kueue's Deployment; use it with `cluster.derive`."""
    return next((it.gates for it in cluster.derive(managers) if it.gates), {})


def managers(cluster: Cluster) -> tuple[Controller, ...]:
    """The Deployments that run Kueue; use it with `cluster.derive`."""
    found = controllers(cluster.of("apps", "Deployment"))
    return tuple(it for it in found if it.component == KUEUE)


def of(entry: Entry[KueueConfigurationView] | None, target: Version, cluster: Cluster) -> Settings:
    """The effective settings of a Configuration for a release.

    Source: apis/config/v1beta2/defaults.go and v1beta1/configuration_conversion.go.
    """
    config = entry.fields if entry else KueueConfigurationView()
    old = entry is not None and entry.object.version == "v1beta1"
    integrations, resources = config.integrations or {}, config.resources or {}
    return Settings(
        entry=entry,
        target=target,
        cluster=cluster,
        fair_sharing=_switched(config.fair_sharing, old=old),
        frameworks=texts(integrations.get("frameworks")) or DEFAULT_FRAMEWORKS,
        external_frameworks=texts(integrations.get("externalFrameworks")),
        excluded=texts(resources.get("excludeResourcePrefixes")),
        transformations={
            str(data.get("input")): _transformation(data)
            for data in mappings(resources.get("transformations"))
        },
        devices=tuple(
            str(data.get("name")) for data in mappings(resources.get("deviceClassMappings"))
        ),
        managed=selector(config.managed_jobs_namespace_selector)
        or LabelSelector(
            match_expressions=(
                Requirement(
                    NAMESPACE_NAME, "NotIn", (KUBE_SYSTEM, config.namespace or KUEUE_NAMESPACE)
                ),
            )
        ),
    )


def identifier(
    labels: Mapping[str, str], annotations: Mapping[str, str], key: str, settings: Settings
) -> tuple[str, str]:
    """Where Kueue reads the name of a pod group or Workload, and the name; empty: there is none.

    Since 0.18 an annotation takes precedence.
    """
    if annotations.get(key) and settings.gate("WorkloadIdentifierAnnotations"):
        return "annotations", annotations[key]
    return "labels", labels.get(key, "")


def selector(data: Any) -> LabelSelector | None:
    """Untyped data as a label selector; None if it is not a mapping."""
    if not isinstance(data, dict):
        return None
    labels = mapping(data, "matchLabels")
    return LabelSelector(
        match_labels={key: it or "" for key, it in labels.items() if isinstance(it, str | None)},
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
        return Fraction(1)  # the manager does not start with an invalid factor


def _switched(stanza: Mapping[str, Any] | None, *, old: bool) -> bool:
    """Whether a section is on: in v1beta2 if it is set, in v1beta1 only with `enable: true`."""
    return stanza is not None and (not old or stanza.get("enable") is True)
