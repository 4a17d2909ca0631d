"""Views of the configuration files of kube-scheduler, Kueue and Volcano for rules.

The controllers read these files; the API server only stores them as text in ConfigMaps. Many
fields are untyped, because rules check how the controller reads the text. Sources: k8s.io/kube-scheduler/config/v1 (1.36.3), apis/config/v1beta2 of Kueue 0.19.2,
pkg/scheduler/conf of Volcano 1.14.1.
"""

from typing import Any

from msgspec import Struct, field

from policygen.core.names import DEFAULT_SCHEDULER
from policygen.kubernetes.untyped import mapping


class PluginRef(Struct, rename="camel", frozen=True):
    """A plugin that is enabled or disabled."""

    name: str = ""
    weight: int | None = None
    """None and 0: the default of the plugin."""


class PluginSet(Struct, rename="camel", frozen=True):
    """The enabled and disabled plugins of one extension point."""

    enabled: tuple[PluginRef, ...] = ()
    disabled: tuple[PluginRef, ...] = ()


class PluginConfig(Struct, frozen=True):
    """The arguments of one plugin."""

    name: str = ""
    written: Any = field(default=None, name="args")
    """kube-scheduler does not read the arguments of a plugin that has none."""

    @property
    def args(self) -> dict[str, Any]:
        """The arguments; empty if they are not a mapping."""
        return mapping(self.written)


class SchedulerProfileView(Struct, rename="camel", frozen=True):
    """One profile of kube-scheduler."""

    scheduler_name: str = DEFAULT_SCHEDULER
    plugins: dict[str, PluginSet] = field(default_factory=dict)
    """By extension point."""
    plugin_config: tuple[PluginConfig, ...] = ()
    percentage_of_nodes_to_score: int | None = None


class SchedulerConfigurationView(Struct, rename="camel", frozen=True):
    """A KubeSchedulerConfiguration."""

    profiles: tuple[SchedulerProfileView, ...] = ()
    percentage_of_nodes_to_score: int | None = None


class KueueConfigurationView(Struct, rename="camel", frozen=True):
    """Kueue's Configuration; many fields are untyped."""

    namespace: str = ""
    """The namespace of Kueue; empty: that of its pod."""
    manage_jobs_without_queue_name: bool = False
    managed_jobs_namespace_selector: dict[str, Any] | None = None
    wait_for_pods_ready: dict[str, Any] | None = None
    integrations: dict[str, Any] | None = None
    fair_sharing: dict[str, Any] | None = None
    admission_fair_sharing: dict[str, Any] | None = None
    resources: dict[str, Any] | None = None
    feature_gates: dict[str, bool | None] = field(default_factory=dict)
    """An empty value is read as false."""
    multi_kueue: dict[str, Any] | None = None
    """No rule reads it; a value of another type is reported as malformed."""


class VolcanoPlugin(Struct, rename="camel", frozen=True):
    """A plugin of a tier; its flags and arguments are untyped."""

    name: str | int | float | bool = ""
    """Volcano reads other scalars as text."""
    arguments: dict[str, Any] = field(default_factory=dict)


class VolcanoTier(Struct, rename="camel", frozen=True):
    """A tier of plugins. A later tier decides only if this one does not."""

    plugins: tuple[VolcanoPlugin, ...] = ()


class VolcanoAction(Struct, rename="camel", frozen=True):
    """The arguments of an action."""

    name: str | int | float | bool | None = ""
    arguments: dict[str, Any] = field(default_factory=dict)


class VolcanoConfigurationView(Struct, rename="camel", frozen=True):
    """volcano-scheduler.conf."""

    actions: str = ""
    tiers: tuple[VolcanoTier, ...] = ()
    configurations: tuple[VolcanoAction, ...] = ()
    """No rule reads them; a value of another type is reported as malformed."""
    metrics: dict[str, str | int | float | bool | None] = field(default_factory=dict)
    """As `configurations`."""

    def plugin(self, name: str) -> tuple[int, int, VolcanoPlugin] | None:
        """The first plugin with a name: the index of its tier, its index there, and the plugin."""
        for i, tier in enumerate(self.tiers):
            for j, plugin in enumerate(tier.plugins):
                if plugin.name == name:
                    return i, j, plugin
        return None

    @property
    def action_names(self) -> tuple[str, ...]:
        """The actions, in order."""
        return tuple(name.strip() for name in self.actions.split(",") if name.strip())
