"""The Platform's settings for programs: where controllers run, and settings of lint."""

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.names import (
    KUBE_SYSTEM,
    KUEUE_NAMESPACE,
    MONITORING_NAMESPACE,
    NVIDIA_NAMESPACE,
    VOLCANO_CONFIG_MAP,
    VOLCANO_NAMESPACE,
)


class KueueSettings(Struct, frozen=True):
    """Where Kueue runs and the configuration file that `--with kueue-config` merges into."""

    namespace: str = KUEUE_NAMESPACE
    configuration: str | None = None
    """Path of the base file, relative to the file of the Platform."""
    at: At | None = None


class VolcanoSettings(Struct, frozen=True):
    """Where Volcano runs and the ConfigMap that its scheduler reads."""

    namespace: str = VOLCANO_NAMESPACE
    config_map: str = VOLCANO_CONFIG_MAP


class KubeSchedulerSettings(Struct, frozen=True):
    """Where the scheduler profiles are rendered, and the image of a second scheduler."""

    namespace: str = KUBE_SYSTEM
    image: str | None = None
    at: At | None = None


class NvidiaSettings(Struct, frozen=True):
    """Where the device plugin and the MIG manager run."""

    namespace: str = NVIDIA_NAMESPACE
    at: At | None = None


class ClusterAutoscalerSettings(Struct, frozen=True):
    """Where Cluster Autoscaler runs, and so where its priority expander reads its ConfigMap."""

    namespace: str = KUBE_SYSTEM
    at: At | None = None


class MonitoringSettings(Struct, frozen=True):
    """Where rules and dashboards of Prometheus and Grafana are rendered, and when alerts fire.

    Durations are in the form of Prometheus, such as `30m` or `1d`.
    """

    namespace: str = MONITORING_NAMESPACE
    rule_labels: tuple[tuple[str, str], ...] = ()
    """Labels by which a Prometheus selects its PrometheusRules."""
    idle_below_percent: int = 20
    idle_for: str = "1h"
    guarantee_unused_for: str = "1d"
    saturated_for: str = "30m"
    pending_for: str = "1h"
    fragmented_for: str = "30m"
    drift_checked_every: str = "1d"
    """The longest time between two runs of `policygen lint`."""
    at: At | None = None
    """None if the spec does not have these settings."""


class KedaSettings(Struct, frozen=True):
    """How KEDA reads the metric of a model."""

    prometheus: str
    """URL of Prometheus."""
    at: At | None = None


class AdmissionSettings(Struct, frozen=True):
    """What the admission policies of `--with admission` do with objects that break a rule."""

    action: str = "deny"
    """`deny`, `warn`, `audit` or `off`; of all rules that have no own."""
    rules: tuple[tuple[str, str], ...] = ()
    """Rules with an action of their own; `off`: the rule is not rendered."""
    defaults: bool = False
    """Whether the API server adds missing fields to new objects."""


class Waiver(Struct, frozen=True):
    """A finding that a team accepts."""

    rule: str
    reason: str
    at: At
    object: str | None = None
    """Kind and name, with `*` for any part: `LocalQueue team-a/*`; None: every object."""
    field: str | None = None
    """Path or anchor of the finding, also with `*`: `*.nominalQuota`; None: every field."""
    expires: str | None = None
    """The last day of the waiver, YYYY-MM-DD; None: it does not expire."""


class LintSettings(Struct, frozen=True):
    """The settings of `policygen lint` in a spec."""

    severities: tuple[tuple[str, str], ...] = ()
    """Rules and their severities in this spec; `off` hides a rule's findings."""
    bounds: tuple[tuple[str, str], ...] = ()
    """Rules and how long they wait before they report, as Go durations."""
    waivers: tuple[Waiver, ...] = ()
    annotations: tuple[str, ...] = ()
    """Rules whose findings annotations on live objects may waive."""
    at: At | None = None
