"""How the profiles of kube-scheduler score nodes: which scores are on, and with which weight.

Source: pkg/scheduler/apis/config/v1/default_plugins.go, framework/runtime/framework.go of
Kubernetes 1.36.3.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from policygen.core.finding import At, at_path
from policygen.core.names import DEFAULT_SCHEDULER
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.configurations import SchedulerConfigurationView
from policygen.kubernetes.configurations import SchedulerProfileView as Written
from policygen.kubernetes.scheduler_plugins import WEIGHTS, enabled_plugins
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping, mappings

FIT = "NodeResourcesFit"
SPREAD = "PodTopologySpread"

_OPPONENTS = (SPREAD, "NodeResourcesBalancedAllocation", "ImageLocality")
"""Scores that apply to every pod and can favour an emptier node."""

_FILLING = ("MostAllocated", "RequestedToCapacityRatio")


class Scoring(Struct, frozen=True, eq=False):
    """How NodeResourcesFit scores nodes in a profile."""

    at: At | None
    """The place of its scoringStrategy; None if it is not set."""
    strategy: str | None
    resources: Mapping[str, int]
    weight: int
    on: bool
    rises: bool
    """Whether the shape gives a fuller node more points; true without a shape."""
    enabled_at: At | None
    """Where a profile other than the default one enables it explicitly."""

    @property
    def extended(self) -> dict[str, int]:
        """The weights of extended resources, such as GPUs."""
        return {name: weight for name, weight in self.resources.items() if "/" in name}

    @property
    def packs(self) -> bool:
        """Whether it fills nodes by GPUs."""
        return bool(self.on and self.strategy in _FILLING and self.rises and self.extended)


class ScoredProfile(Struct, frozen=True, eq=False):
    """A profile and its place."""

    owner: Entry[SchedulerConfigurationView]
    at: At
    profile: Written
    scoring: Scoring
    opponents: Mapping[str, int]
    """The scores that oppose packing, and their weights."""

    @property
    def name(self) -> str:
        """Its schedulerName."""
        return self.profile.scheduler_name


def gpu_schedulers(cluster: Cluster) -> frozenset[str]:
    """The schedulers of pods with accelerators; use it with `cluster.derive`."""
    return frozenset(
        workload.scheduler_name(template) or DEFAULT_SCHEDULER
        for workload in cluster.workloads
        for template in workload.templates
        if accelerators.requested(cluster, template)
    )


def profiles(cluster: Cluster) -> tuple[ScoredProfile, ...]:
    """The profiles of all files, without a second one of the same name, which kube-scheduler refuses."""
    return cluster.derive(_scored)


def _scored(cluster: Cluster) -> tuple[ScoredProfile, ...]:
    found = []
    for owner in cluster.scheduler_configurations:
        names = set[str]()
        for i, profile in enumerate(owner.fields.profiles):
            if profile.scheduler_name in names:
                continue
            names.add(profile.scheduler_name)
            at = owner.at.to("profiles", i)
            weights = enabled_plugins(profile, "score", WEIGHTS)
            opponents = {name: weights[name] for name in _OPPONENTS if name in weights}
            if _has_no_constraints(profile):
                opponents.pop(SPREAD, None)
            scoring = _scoring(profile, at, weights)
            found.append(ScoredProfile(owner, at, profile, scoring, opponents))
    return tuple(found)


def _arguments(profile: Written, plugin: str) -> tuple[int, Mapping[str, Any]] | None:
    for i, config in enumerate(profile.plugin_config):
        if config.name == plugin:
            return i, config.args
    return None


def _has_no_constraints(profile: Written) -> bool:
    """Whether PodTopologySpread has no default constraints."""
    found = _arguments(profile, SPREAD)
    if found is None:
        return False
    is_list = str(found[1].get("defaultingType")).lower() == "list"  # another case is refused
    return is_list and not found[1].get("defaultConstraints")


def _scoring(profile: Written, at: At, weights: Mapping[str, int]) -> Scoring:
    found = _arguments(profile, FIT)
    strategy = found[1].get("scoringStrategy") if found else None
    written, data = isinstance(strategy, dict), mapping(strategy)
    return Scoring(
        at=at.to("pluginConfig", found[0], "args", "scoringStrategy")
        if found and written
        else None,
        strategy=str(data.get("type", "LeastAllocated")) if written else None,
        resources=_resources(data.get("resources")) or {"cpu": 1, "memory": 1},
        weight=weights.get(FIT, 0),
        on=FIT in weights,
        rises=_rises(at_path(data, ("requestedToCapacityRatio", "shape"))),
        enabled_at=_enabled_at(profile, at),
    )


def _resources(data: Any) -> dict[str, int]:
    found = {}
    for resource in mappings(data):
        if isinstance(resource.get("name"), str):
            weight = resource.get("weight")
            found[resource["name"]] = weight if isinstance(weight, int) and weight > 0 else 1
    return found


def _rises(shape: Any) -> bool:
    points = [
        (use, score)
        for use, score in ((it.get("utilization", 0), it.get("score", 0)) for it in mappings(shape))
        if isinstance(use, int) and isinstance(score, int)
    ]
    return not points or max(points)[1] > min(points)[1]


def _enabled_at(profile: Written, at: At) -> At | None:
    if profile.scheduler_name == DEFAULT_SCHEDULER:
        return None
    for point in ("score", "multiPoint"):
        plugins = profile.plugins.get(point)
        for i, plugin in enumerate(plugins.enabled if plugins else ()):
            if plugin.name == FIT:
                return at.to("plugins", point, "enabled", i)
    return None
