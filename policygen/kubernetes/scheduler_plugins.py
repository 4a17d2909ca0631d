"""Which plugins a profile of kube-scheduler runs at an extension point, in their order, with their weights.

Source: pkg/scheduler/apis/config/v1/default_plugins.go and framework/runtime/framework.go of
Kubernetes 1.36.3.
"""

from collections.abc import Mapping
from types import MappingProxyType

from policygen.kubernetes.configurations import PluginSet, SchedulerProfileView

WEIGHTS: Mapping[str, int] = MappingProxyType(
    {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodeResourcesFit": 1,
        "VolumeBinding": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
        "DynamicResources": 1,
    }
)
"""The default plugins that score, with their weights."""


def enabled_plugins(
    view: SchedulerProfileView, point: str, defaults: Mapping[str, int]
) -> dict[str, int]:
    """The plugins of an extension point with their weights, in order. A weight of 0 is 1.

    Plugins of the point come before those of `multiPoint` if both name them, else after them. A plugin that
    is disabled and enabled comes last.
    """
    multi, own = (view.plugins.get(it, PluginSet()) for it in ("multiPoint", point))
    custom = {it.name: it.weight or 1 for it in multi.enabled if it.name in defaults}
    off = {it.name for it in multi.disabled}
    merged = {
        name: custom.get(name, weight)
        for name, weight in defaults.items()
        if off.isdisjoint((name, "*"))
    } | custom
    mine = {it.name: it.weight or 1 for it in own.enabled}
    off = {it.name for it in own.disabled}
    merged = {name: it for name, it in merged.items() if off.isdisjoint((name, "*"))}
    both = {name: weight for name, weight in mine.items() if name in merged}
    return both | merged | mine
