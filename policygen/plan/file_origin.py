"""Finds the place in the spec from which a controller's file, or one of its fields, was derived."""

from collections.abc import Iterable, Sequence

from policygen.core.finding import At, Path
from policygen.plan import kueue_configuration, scheduler
from policygen.plan.extras import DEVICE_PLUGIN, MIG_MANAGER
from policygen.plan.kind import Item
from policygen.plan.nvidia.device_plugin import label
from policygen.plan.nvidia.mig_manager import layouts
from policygen.plan.pool import PoolFacts
from policygen.spec import derived_names
from policygen.spec.types import Spec

_FIELDS = {
    "bin_pack": "binPack",
    "spread": "spread",
    "preemption_enabled": "preemptionEnabled",
    "gang_scheduling": "gangScheduling",
}
"""The fields of a scheduling policy, by their names in the spec."""

_YIELDS = {"actions", "enablePreemptable", "enableReclaimable", "enableJobStarving"}
"""The parts of Volcano's file that depend on preemption."""

_SCORING = {"binpack", "nodeorder", "resource-strategy-fit"}


class FileOrigins:
    """Finds the places. A place is None if the field is the same in every such file."""

    def __init__(self, spec: Spec, pools: Sequence[PoolFacts]) -> None:
        self._spec = spec
        self._platform = spec.platform
        self._pools = pools

    def of(self, item: Item, path: Path) -> At | None:
        """The place for a field of a ConfigMap, or for the ConfigMap if `path` is empty.

        `path` has the names of list entries, as in `Origins.of`.
        """
        name, inside = item.meta.name, path[2:]
        if name == derived_names.second_scheduler(self._platform):
            return self._scheduler(inside)
        if name == self._platform.volcano.config_map:
            return self._volcano(inside)
        if name == kueue_configuration.CONFIG_MAP:
            return self._kueue(inside)
        if item.kind.extra in (DEVICE_PLUGIN, MIG_MANAGER):
            return self._nvidia(item.kind.extra, path)
        return None

    def _scheduler(self, path: Path) -> At | None:
        if "resourceNamespace" in path:
            return self._of_platform("spec", "kubeScheduler", "namespace")
        if path[-1:] in {("resourceName",), ("schedulerName",)}:
            return self._of_platform("metadata", "name")
        pools = scheduler.placed(self._pools)
        packing = [it for it in pools if it.policy.bin_pack]
        spreading = [it for it in pools if it.policy.spread]
        if derived_names.profile(self._platform, "spread") in path or not packing:
            return self._scored(path, spreading, "spread")
        return self._scored(path, packing, "bin_pack")

    def _volcano(self, path: Path) -> At | None:
        mine = [it for it in self._pools if it.scheduler == "volcano"]
        if not _YIELDS.isdisjoint(path):
            return self._policy(mine, "preemption_enabled")
        if "nodegroup" in path:
            grouped = (it.pool.at.to("spec", "nodeSelector") for it in mine if it.node_group)
            return next(grouped, None)
        if not _SCORING.isdisjoint(path):
            spreads = any(it.policy.spread for it in mine)
            return self._scored(path, mine, "spread" if spreads else "bin_pack")
        return self._of_platform("spec", "volcano")

    def _kueue(self, path: Path) -> At | None:
        stanza = path[0] if path else ""
        mine = [it for it in self._pools if it.scheduler == "kueue"]
        if stanza == "waitForPodsReady":
            return self._policy(mine, "gang_scheduling")
        if stanza == "fairSharing":
            quotas = (quota for team in self._spec.teams for quota in team.quotas)
            return next((it.field("weight") for it in quotas if it.weight != 1), None)
        if path[:2] == ("metrics", "enableClusterQueueResources"):
            return self._of_platform("spec", "monitoring")
        if stanza == "managedJobsNamespaceSelector":
            return self._of_platform("spec", "kueue", "namespace")
        return self._of_platform("spec", "kueue", "configuration")

    def _nvidia(self, extra: str, path: Path) -> At | None:
        """The sharing of the pool that the path names, or the namespace."""
        pools = {label(it): it.pool for it in self._pools}
        pools |= {it.name: facts.pool for facts in self._pools for it in layouts(facts)}
        pool = next((pools[str(step)] for step in path[1:] if str(step) in pools), None)
        if pool is None:
            return self._of_platform("spec", "nvidia", "namespace")
        field = "sharing"
        if "migStrategy" in path:
            return pool.at.to("spec", "gpu", "mig", "strategy")
        if "replicas" in path:
            field = "replicas"
        elif extra == MIG_MANAGER:
            field = "mig"
        return pool.at.to("spec", "gpu", field)

    def _scored(self, path: Path, pools: Sequence[PoolFacts], field: str) -> At | None:
        """The GPUs of the pool with the resource, which decide its weight, or the policy."""
        of_resource = [it for it in pools if any(_names(step, it.resources) for step in path)]
        if of_resource:
            return max(of_resource, key=lambda it: it.units_per_node).pool.at.to("spec", "gpu")
        return self._policy(pools, field)

    def _policy(self, pools: Sequence[PoolFacts], field: str) -> At | None:
        """The field of a pool, or that of the Platform, or the first pool if both omit it."""
        steps = ("schedulingPolicy", _FIELDS[field])
        for facts in pools:
            if getattr(facts.pool.scheduling_policy, field) is not None:
                return facts.pool.at.to("spec", *steps)
        if getattr(self._platform.scheduling_policy, field) is not None:
            return self._of_platform("spec", "defaults", *steps)
        return pools[0].pool.at.to("spec", *steps) if pools else None

    def _of_platform(self, *steps: str) -> At | None:
        return self._platform.at.to(*steps) if self._platform.at else None


def _names(step: str | int, resources: Iterable[str]) -> bool:
    """Whether a step names one of these resources: `nvidia.com/gpu`, `binpack.resources.nvidia.com/gpu`."""
    return any(step == it or str(step).endswith(f".{it}") for it in resources)
