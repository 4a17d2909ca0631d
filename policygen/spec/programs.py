"""What the Platform says of programs: where controllers run, and what lint is told."""

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.names import KUBE_SYSTEM, KUEUE_NAMESPACE, VOLCANO_CONFIG_MAP, VOLCANO_NAMESPACE


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
    """Where our scheduler profiles go, and the image of a second scheduler."""

    namespace: str = KUBE_SYSTEM
    image: str | None = None
    at: At | None = None


class Waiver(Struct, frozen=True):
    """A finding that somebody accepts."""

    rule: str
    reason: str
    at: At
    object: str | None = None
    """Kind and name, with `*` for any part: `LocalQueue team-a/*`; None: every object."""
    field: str | None = None
    """Path or anchor of the finding, with `*` likewise: `*.nominalQuota`; None: every field."""
    expires: str | None = None
    """The last day on which it counts, YYYY-MM-DD; None: for ever."""


class LintSettings(Struct, frozen=True):
    """What `policygen lint` is told by the spec."""

    severities: tuple[tuple[str, str], ...] = ()
    """Rules and the severities that they have here; `off` runs none of it."""
    bounds: tuple[tuple[str, str], ...] = ()
    """Rules and how long they wait here before they speak, as Go writes durations."""
    waivers: tuple[Waiver, ...] = ()
    annotations: tuple[str, ...] = ()
    """Rules whose findings annotations on live objects may waive."""
    at: At | None = None
