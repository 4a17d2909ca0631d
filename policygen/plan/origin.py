"""Finds the place in the spec from which a rendered object, or one of its fields, was derived."""

from collections.abc import Callable, Mapping, Sequence

from policygen.core.finding import At, Path
from policygen.plan import node_autoscaler
from policygen.plan.extras import MONITORING, NODE_AUTOSCALER, SECOND_SCHEDULER, VPA, WORKLOADS
from policygen.plan.file_origin import FileOrigins
from policygen.plan.kind import Item
from policygen.plan.monitoring.origin import RuleOrigins
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import TeamNode, Tree
from policygen.plan.volcano import group_names
from policygen.plan.workload import objects as workload
from policygen.plan.workload.origin import WorkloadOrigins
from policygen.spec import derived_names
from policygen.spec.types import Pool, Spec, Team

_QUOTA = {
    "nominalQuota": "guarantee",
    "borrowingLimit": "limit",
    "deserved": "guarantee",
    "guarantee": "guarantee",
    "capability": "limit",
}
"""The fields of a quota from which an amount of a queue is derived."""

_POOL = {
    "nodeLabels": ("nodeSelector",),
    "nodeTaints": ("taints",),
    "tolerations": ("tolerations",),
    "topologyName": ("schedulingPolicy", "topologyAware"),
    "levels": ("topology", "levels"),
    "affinity": ("nodeSelector",),
    "preemption": ("schedulingPolicy", "preemptionEnabled"),
    "admissionChecksStrategy": ("autoscaler", "provisioningClass"),
    "provisioningClassName": ("autoscaler", "provisioningClass"),
    "managedResources": ("gpu",),
    "lendingLimit": ("schedulingPolicy", "preemptionEnabled"),
    "reclaimable": ("schedulingPolicy", "preemptionEnabled"),
}


_NODE_POOL = {
    "nodeClassRef": ("autoscaler", "nodeClass"),
    "requirements": ("capacity", "nodeType"),
    "labels": ("nodeSelector",),
    "taints": ("taints",),
    "limits": ("capacity",),
}
"""The fields of a NodePool, and the fields of the pool from which they are derived."""

_REQUIRED = {
    node_autoscaler.CAPACITY_TYPE: ("provisioning",),
    node_autoscaler.INSTANCE_TYPE: ("capacity", "nodeType"),
}
"""The requirements of a NodePool, and the fields of the pool that state them."""

_COPIED = ("nodeLabels", "nodeTaints", "tolerations", "levels")
"""The fields whose entries are those of the spec, in the same order."""


Find = Callable[[Item, Path], At | None]
"""Finds the place for a field of an object."""


class Origins:
    """Finds the places. For a field that the spec omits, the place is its parent."""

    def __init__(self, spec: Spec, pools: Sequence[PoolFacts], trees: Sequence[Tree]) -> None:
        self._spec = spec
        self._platform = spec.platform.at
        self._facts = pools
        self._pools = {pool.name: pool for pool in spec.pools}
        self._priorities = {
            name: priority
            for priority in spec.platform.priorities
            for name in (priority.name, derived_names.preempting_class(priority))
        }
        self._nodes = {tree.name_of(node): (tree, node) for tree in trees for node in tree.nodes}
        self._roots = {tree.queue: tree for tree in trees}
        self._teams = {it.name: team for team in spec.teams for it in team.namespaces}
        self._groups = {name: it for it in spec.models for name in group_names(it)}
        second_scheduler = {"Deployment": self._deployment}
        of_workload = WorkloadOrigins(spec, pools).of
        rules = RuleOrigins(spec).of
        self._extras: Mapping[str, Mapping[str, Find]] = {
            SECOND_SCHEDULER: second_scheduler,
            VPA: {"VerticalPodAutoscaler": of_workload},
            WORKLOADS: dict.fromkeys(workload.KIND_NAMES, of_workload),
            NODE_AUTOSCALER: {"ConfigMap": self._priorities_of_groups, "NodePool": self._node_pool},
            MONITORING: {"PrometheusRule": rules, "ConfigMap": rules},
        }
        self._of: Mapping[str, Find] = {
            "Namespace": self._namespace,
            "PriorityClass": self._priority,
            "WorkloadPriorityClass": self._priority,
            "Topology": self._flavor,
            "ResourceFlavor": self._flavor,
            "ProvisioningRequestConfig": self._flavor,
            "AdmissionCheck": self._flavor,
            "Cohort": self._queue,
            "ClusterQueue": self._queue,
            "Queue": self._queue,
            "LocalQueue": self._namespace,
            "ResourceQuota": self._resource_quota,
            "LimitRange": self._limit_range,
            "PodGroup": self._pod_group,
            "ConfigMap": FileOrigins(spec, pools).of,
        }

    def of(self, item: Item, path: Path = ()) -> At | None:
        """The place for a field of an object, or for the object if `path` is empty.

        `path` has the names of list entries if they have one: `flavors`, `a100`. Returns None if the
        spec has no Platform.
        """
        find = self._extras.get(item.kind.extra, self._of).get(item.kind.name)
        at = find(item, path) if find else None
        return at or self._platform

    def _namespace(self, item: Item, _: Path) -> At | None:
        name = item.meta.namespace or item.meta.name
        team = self._teams.get(name)
        if team is None:
            return None
        index = [it.name for it in team.namespaces].index(name)
        return team.at.to("spec", "namespaces", index)

    def _priority(self, item: Item, path: Path) -> At | None:
        priority = self._priorities.get(item.meta.name)
        if priority is None:
            return None
        field = (
            "preempts" if path[:1] == ("preemptionPolicy",) else str(path[0] if path else "name")
        )
        return priority.at / field

    def _flavor(self, item: Item, path: Path) -> At | None:
        pool = self._pools.get(item.meta.name)
        return None if pool is None else _of_pool(pool, path)

    def _queue(self, item: Item, path: Path) -> At | None:
        name = item.meta.name
        if name in self._nodes:
            return self._share(*self._nodes[name], path)
        tree = self._roots.get(name)
        if tree is None:
            return None
        pool = _pool(tree, path)
        amounts = any(step in _QUOTA for step in path)
        return pool.at.to("spec", "capacity") if amounts else _of_pool(pool, path)

    def _share(self, tree: Tree, node: TeamNode, path: Path) -> At:
        team, pool = node.team, _pool(tree, path)
        if any(step in ("cohort", "cohortName", "parent", "parentName") for step in path):
            return team.at.to("spec", "parent")
        if "namespaceSelector" in path:
            return team.at.to("spec", "namespaces")
        if any(step in _POOL for step in path):
            return _of_pool(pool, path)
        if "priority" in path:
            return team.at / "priority"
        if "fairSharing" in path or "weight" in path:
            return team.quota_at(pool.name, "weight")
        field = next((_QUOTA[str(step)] for step in path if step in _QUOTA), "pool")
        return team.quota_at(pool.name, field)

    def _resource_quota(self, item: Item, path: Path) -> At | None:
        team = self._teams.get(item.meta.namespace or "")
        if team is None:
            return None
        if path[:2] != ("spec", "hard") or len(path) < 3:
            return team.at
        resource = str(path[2]).removeprefix("requests.")
        if resource == path[2]:
            return team.max_pending_at or team.at
        return self._limit_of(team, resource)

    def _limit_of(self, team: Team, resource: str) -> At:
        """The quota of a team of a pool that has this resource."""
        for tree in self._roots.values():
            for facts in tree.pools:
                if team.name in tree.by_team and resource in facts.keys:
                    return team.quota_at(facts.name, "limit")
        return team.at

    def _limit_range(self, item: Item, _: Path) -> At | None:
        team = self._teams.get(item.meta.namespace or "")
        if team is not None and team.container_defaults is not None:
            return team.at.to("spec", "containerDefaults")
        return self._platform.to("spec", "defaults") if self._platform else None

    def _deployment(self, _: Item, path: Path) -> At | None:
        field = ("image",) if "image" in path else ()
        return self._platform.to("spec", "kubeScheduler", *field) if self._platform else None

    def _priorities_of_groups(self, _: Item, path: Path) -> At | None:
        """The place of a node group; that of its namespace for the ConfigMap."""
        if path[:1] == ("data",) and len(path) > 3:
            groups = node_autoscaler.groups_by_priority(self._spec.platform, self._facts)
            return groups[int(path[2])][int(path[3])].at
        at = self._platform
        return at and at.to("spec", "clusterAutoscaler", "namespace")

    def _node_pool(self, item: Item, path: Path) -> At | None:
        pool = node_autoscaler.pool_of(self._facts, item.meta.name).pool
        steps = next((_NODE_POOL[str(it)] for it in path if it in _NODE_POOL), None)
        if path[:4] == ("spec", "template", "spec", "requirements"):
            selected = dict(pool.node_selector)
            names = [(key, it) for key, it in _REQUIRED.items() if key in path[4:]]
            steps = next(
                (("nodeSelector", key) if key in selected else it for key, it in names), steps
            )
        return pool.at.to("spec", *steps) if steps else pool.at.to("metadata", "name")

    def _pod_group(self, item: Item, path: Path) -> At | None:
        model = self._groups.get(item.meta.name)
        if model is None:
            return None
        fields = {"minMember": "gang", "minResources": "resources", "priorityClassName": "priority"}
        field = next((fields[str(step)] for step in path if step in fields), None)
        return model.field(field) if field else model.at


def _pool(tree: Tree, path: Path) -> Pool:
    """The pool whose flavor a path names, else the first of a shared queue."""
    named = {facts.name: facts.pool for facts in tree.pools}
    return next((named[step] for step in path if step in named), tree.pools[0].pool)


def _of_pool(pool: Pool, path: Path) -> At:
    index = next((i for i, step in enumerate(path) if step in _POOL), None)
    if index is None:
        return pool.at.to("metadata", "name")
    field, inside = _POOL[str(path[index])], path[index + 1 :]
    if field == ("tolerations",) and pool.tolerations is None:
        field = ("taints",)
    return pool.at.to("spec", *field, *(inside if path[index] in _COPIED else ()))
