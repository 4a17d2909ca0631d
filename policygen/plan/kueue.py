"""Decides the objects of Kueue: flavors, topologies, the cohort tree, queues and priority classes."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from policygen.core import versions
from policygen.core.names import HOSTNAME
from policygen.plan.amounts import count, text
from policygen.plan.decisions import Decisions, Generators
from policygen.plan.kind import Meta
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import TeamNode, Tree
from policygen.spec.types import Platform, Pool, Taint, TeamNamespace, Toleration


class Cell(Struct, frozen=True):
    """Quota of one resource in one flavor; amounts are canonical quantities."""

    resource: str
    nominal_quota: str
    borrowing_limit: str | None = None
    lending_limit: str | None = None


class Flavor(Struct, frozen=True):
    """The quotas of one flavor, in the order of the covered resources."""

    name: str
    resources: tuple[Cell, ...]


class ResourceFlavor(Struct, frozen=True):
    """The nodes of a pool, as a flavor of Kueue."""

    meta: Meta
    node_labels: dict[str, str]
    node_taints: tuple[dict[str, str], ...]
    """Taints and tolerations in the form of the API."""
    tolerations: tuple[dict[str, str | int], ...]
    topology_name: str | None


class Topology(Struct, frozen=True):
    """Levels of a pool's network, widest first."""

    meta: Meta
    levels: tuple[str, ...]


class Cohort(Struct, frozen=True):
    """An inner node of a queue's tree, or its root."""

    meta: Meta
    parent: str | None
    covered_resources: tuple[str, ...]
    flavors: tuple[Flavor, ...]
    weight: str | None
    """A quantity. Kueue 0.19 stores a number as text, so a second apply would change it."""


class ProvisioningRequestConfig(Struct, frozen=True):
    """How Kueue requests the nodes of workloads in one pool."""

    meta: Meta
    provisioning_class: str
    managed_resources: tuple[str, ...]


class AdmissionCheck(Struct, frozen=True):
    """Lets workloads of one pool start when their nodes exist. Its configuration has the same name."""

    meta: Meta


class ClusterQueue(Struct, frozen=True):
    """A leaf of a queue's tree: the quotas of one team."""

    meta: Meta
    cohort: str
    namespaces: tuple[str, ...]
    covered_resources: tuple[str, ...]
    flavors: tuple[Flavor, ...]
    when_can_borrow: str
    reclaim_within_cohort: str
    within_cluster_queue: str
    weight: str
    """A quantity, as in Cohort."""
    checks: tuple[str, ...] = ()
    """The flavors with a check, which has the name of the flavor."""


class LocalQueue(Struct, frozen=True):
    """The queue that workloads of one namespace name to join a ClusterQueue."""

    meta: Meta
    cluster_queue: str


class WorkloadPriorityClass(Struct, frozen=True):
    """A priority among workloads that wait for quota."""

    meta: Meta
    value: int
    description: str | None


def resource_flavors(decided: Decisions) -> Iterator[ResourceFlavor]:
    """One flavor for each pool, with the pool's name."""
    for facts in decided.pools_of("kueue"):
        pool = facts.pool
        yield ResourceFlavor(
            meta=Meta(pool.name, decided.platform.name),
            node_labels=dict(pool.node_selector),
            node_taints=tuple(node_taints(pool)),
            tolerations=tuple(_toleration(toleration) for toleration in tolerations(facts)),
            topology_name=pool.name if facts.policy.topology_aware else None,
        )


def tolerations(facts: PoolFacts) -> tuple[Toleration, ...]:
    """The tolerations of the pool's workloads: those that it writes, else those of its taints."""
    if facts.pool.tolerations is not None:
        return facts.pool.tolerations
    return tuple(
        # An empty value counts as no value, which is the only form that Exists allows.
        Toleration(
            taint.key, "Equal" if taint.value else "Exists", taint.value or None, taint.effect
        )
        for taint in facts.pool.taints
    )


# Go's types omit an empty value. If the API server stored a written one, Kueue's removal of its
# finalizer drops it. A topology makes that field immutable, so the removal is rejected and the
# flavor can never be deleted (seen on 0.19.2).


def node_taints(pool: Pool) -> Iterator[dict[str, str]]:
    """The taints of a pool in the form of the API."""
    return (_taint(taint) for taint in pool.taints)


def _taint(taint: Taint) -> dict[str, str]:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}


def _toleration(toleration: Toleration) -> dict[str, str | int]:
    fields = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value or None,
        "effect": toleration.effect,
        "tolerationSeconds": toleration.toleration_seconds,
    }
    return {name: value for name, value in fields.items() if value is not None}


def topologies(decided: Decisions) -> Iterator[Topology]:
    """One topology for each topology-aware pool; its only level is the node if the pool has no levels."""
    for facts in decided.pools_of("kueue"):
        if facts.policy.topology_aware:
            yield Topology(
                Meta(facts.name, decided.platform.name), facts.pool.topology_levels or (HOSTNAME,)
            )


def provisioning_request_configs(decided: Decisions) -> Iterator[ProvisioningRequestConfig]:
    """The configuration of each pool with a provisioningClass: requests for pods that use its GPUs."""
    for facts, name in provisioned(decided.pools_of("kueue")):
        meta = Meta(facts.name, decided.platform.name)
        yield ProvisioningRequestConfig(meta, name, facts.resources)


def provisioned(pools: Iterable[PoolFacts]) -> Iterator[tuple[PoolFacts, str]]:
    """The pools whose nodes Kueue requests, each with its class."""
    for facts in pools:
        autoscaler = facts.pool.autoscaler
        if autoscaler is not None and autoscaler.provisioning_class is not None:
            yield facts, autoscaler.provisioning_class


def admission_checks(decided: Decisions) -> Iterator[AdmissionCheck]:
    """The check of each pool with a provisioningClass."""
    for facts, _ in provisioned(decided.pools_of("kueue")):
        yield AdmissionCheck(Meta(facts.name, decided.platform.name))


def cohorts(decided: Decisions) -> Iterator[Cohort]:
    """The cohorts of every queue tree, parents first."""
    for tree in decided.trees_of("kueue"):
        yield from _cohorts(decided.platform, tree)


def _cohorts(platform: Platform, tree: Tree) -> Iterator[Cohort]:
    """The root, with the amounts that no team is guaranteed, and the inner teams, parents first.

    A Cohort's nominalQuota adds to its members' (kubernetes-sigs/kueue#5289), so an inner
    team has its guarantee minus those of its children.
    """
    keys = tree.pools[0].keys
    yield Cohort(
        meta=Meta(tree.queue, platform.name),
        parent=None,
        covered_resources=keys,
        flavors=tuple(
            Flavor(
                facts.name,
                tuple(Cell(key, text(key, tree.rest[facts.name][key])) for key in keys),
            )
            for facts in tree.pools
        ),
        weight=None,
    )
    for node in tree.nodes:
        if not node.leaf:
            yield Cohort(
                meta=Meta(tree.name_of(node), platform.name),
                parent=tree.above(node),
                covered_resources=keys,
                flavors=_flavors(tree, node),
                weight=count(node.weight),
            )


def cluster_queues(decided: Decisions) -> Iterator[ClusterQueue]:
    """One ClusterQueue for each leaf."""
    platform = decided.platform
    release = versions.kueue_release(platform.target.kueue)
    for tree in decided.trees_of("kueue"):
        preempts = tree.pools[0].policy.preemption_enabled
        alternatives = len(tree.pools) > 1
        for node in tree.leaves:
            yield ClusterQueue(
                meta=Meta(tree.name_of(node), platform.name),
                cohort=tree.above(node),
                namespaces=tuple(namespace.name for namespace in node.team.namespaces),
                covered_resources=tree.pools[0].keys,
                flavors=_flavors(tree, node),
                when_can_borrow="TryNextFlavor" if alternatives else release.stop_search,
                reclaim_within_cohort="Any" if preempts else "Never",
                within_cluster_queue="LowerPriority" if preempts else "Never",
                weight=count(node.weight),
                checks=tuple(facts.name for facts, _ in provisioned(tree.pools)),
            )


def local_queues(decided: Decisions) -> Iterator[LocalQueue]:
    """One LocalQueue for each namespace of a leaf."""
    for tree in decided.trees_of("kueue"):
        for node in tree.leaves:
            for namespace in node.team.namespaces:
                name = local_queue_name(tree, node, namespace)
                yield LocalQueue(
                    Meta(name, decided.platform.name, namespace.name), tree.name_of(node)
                )


def local_queue_name(tree: Tree, node: TeamNode, namespace: TeamNamespace) -> str:
    """The name of the pool or shared queue; that of the ClusterQueue if teams share the namespace."""
    return tree.name_of(node) if namespace.shared else tree.queue


def workload_priority_classes(decided: Decisions) -> Iterator[WorkloadPriorityClass]:
    """The Platform's priorities, unless all pools have other schedulers."""
    if decided.pools and not decided.pools_of("kueue"):
        return
    for priority in decided.platform.priorities:
        yield WorkloadPriorityClass(
            Meta(priority.name, decided.platform.name), priority.value, priority.description
        )


def _flavors(tree: Tree, node: TeamNode) -> tuple[Flavor, ...]:
    """Quotas of a node, minus the guarantees of its children.

    Without preemption a team cannot reclaim lent quota, so then it lends nothing.
    """
    lending = None if tree.pools[0].policy.preemption_enabled else "0"
    flavors = []
    for facts in tree.pools:
        guarantee, limit = node.guarantee[facts.name], node.limit[facts.name]
        children = [child.guarantee[facts.name] for child in tree.by_parent.get(node.name, ())]
        cells = []
        for key in tree.pools[0].keys:
            own = guarantee[key] - sum(child[key] for child in children)
            borrowing = text(key, limit[key] - guarantee[key])
            cells.append(Cell(key, text(key, own), borrowing, lending))
        flavors.append(Flavor(facts.name, tuple(cells)))
    return tuple(flavors)


OBJECTS: Generators = {
    "WorkloadPriorityClass": workload_priority_classes,
    "Topology": topologies,
    "ResourceFlavor": resource_flavors,
    "ProvisioningRequestConfig": provisioning_request_configs,
    "AdmissionCheck": admission_checks,
    "Cohort": cohorts,
    "ClusterQueue": cluster_queues,
    "LocalQueue": local_queues,
}
