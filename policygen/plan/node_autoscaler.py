"""Decides the files of node autoscalers: the priorities of Cluster Autoscaler, and Karpenter's NodePools."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.core.finding import At
from policygen.plan.amounts import count
from policygen.plan.decisions import Decisions, Generators
from policygen.plan.kind import Meta
from policygen.plan.kubernetes import ConfigMap
from policygen.plan.kueue import node_taints
from policygen.plan.pool import PoolFacts
from policygen.spec.types import NodeClass, Platform

PRIORITIES = "cluster-autoscaler-priority-expander"
PRIORITIES_KEY = "priorities"
"""The names that Cluster Autoscaler reads (expander/priority/priority.go)."""
STEP = 10
"""Between two priorities, so that a user's own groups can be between them."""

CAPACITY_TYPE = "karpenter.sh/capacity-type"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
NODE_POOL = "karpenter.sh/nodepool"
"""The label that Karpenter gives to the nodes of a NodePool, with its name."""


class ScaledGroup(Struct, frozen=True):
    """Node groups of Cluster Autoscaler whose names match a regular expression."""

    expression: str
    at: At


class InstanceLabel(Struct, frozen=True):
    """A label that instance types must have."""

    key: str
    value: str


class NodePool(Struct, frozen=True):
    """The nodes that Karpenter makes for one pool."""

    meta: Meta
    labels: dict[str, str]
    node_class: NodeClass
    requirements: tuple[InstanceLabel, ...]
    taints: tuple[dict[str, str], ...]
    limits: dict[str, str]
    weight: int | None
    """The higher, the earlier Karpenter tries it; None: the pool has no alternatives."""


def node_pools(decided: Decisions) -> Iterator[NodePool]:
    """One NodePool for each pool with a nodeClass. A shared queue's first pool has the highest weight."""
    ranks = _ranks(decided.platform)
    for facts in decided.pools:
        autoscaler = facts.pool.autoscaler
        if autoscaler is None or autoscaler.node_class is None:
            continue
        labels = dict(facts.pool.node_selector)
        labels.pop(NODE_POOL, None)
        requirements = tuple(_requirements(facts, labels))
        yield NodePool(
            meta=Meta(_name(facts), decided.platform.name),
            labels=labels,
            node_class=autoscaler.node_class,
            requirements=requirements,
            taints=tuple(node_taints(facts.pool)),
            limits=_limits(facts),
            weight=ranks[facts.name] + 1 if facts.name in ranks else None,
        )


def _name(facts: PoolFacts) -> str:
    """The name that the nodes of a pool have in Karpenter's label, or the name of the pool."""
    return dict(facts.pool.node_selector).get(NODE_POOL, facts.name)


def pool_of(pools: Iterable[PoolFacts], name: str) -> PoolFacts:
    """The pool of a NodePool."""
    return next(it for it in pools if it.pool.autoscaler and _name(it) == name)


def _requirements(facts: PoolFacts, labels: dict[str, str]) -> Iterator[InstanceLabel]:
    """What Karpenter knows of the nodes: their capacity type and their instance type.

    Takes them out of the labels of the pool; else they are those that the spec states.
    """
    provisioning = "spot" if facts.pool.preemptible else "on-demand"
    stated = {CAPACITY_TYPE: provisioning, INSTANCE_TYPE: facts.pool.capacity.node_type}
    for key, value in stated.items():
        needed = labels.pop(key, value)
        if needed is not None:
            yield InstanceLabel(key, needed)


def _limits(facts: PoolFacts) -> dict[str, str]:
    """All nodes of the pool, and its cards where nodes advertise complete cards.

    Karpenter counts `status.capacity` of nodes. The device plugin advertises shared and divided cards
    there only after a node has started, so then only nodes are counted.
    """
    limits = {"nodes": count(facts.all_nodes)}
    if facts.pool.gpu.sharing == "none":
        limits[facts.resources[0]] = count(facts.all_nodes * facts.per_node)
    return limits


def priorities(decided: Decisions) -> Iterator[ConfigMap]:
    """The ConfigMap of the priority expander; none if no pool has node groups.

    It chooses among the groups on which a waiting pod fits. Groups without a priority are not used if
    another group has one.
    """
    by_priority = groups_by_priority(decided.platform, decided.pools)
    if by_priority:
        lines = (
            line for it in sorted(by_priority, reverse=True) for line in _lines(it, by_priority[it])
        )
        yield ConfigMap(meta(decided.platform), {PRIORITIES_KEY: "".join(lines)})


def _lines(priority: int, groups: Iterable[ScaledGroup]) -> Iterator[str]:
    yield f"{priority}:\n"
    # JSON is YAML: an expression with a colon or a backslash stays as it is.
    yield from (f"  - {json.dumps(it.expression, ensure_ascii=False)}\n" for it in groups)


def groups_by_priority(
    platform: Platform, pools: Iterable[PoolFacts]
) -> Mapping[int, Sequence[ScaledGroup]]:
    """The node groups of all pools.

    Groups of pools that are alternatives are one list: those of the pool that is tried first come first.
    The last group of each list has the priority STEP.
    """
    queues: dict[str, list[PoolFacts]] = defaultdict(list)
    ranks = _ranks(platform)
    for facts in sorted(pools, key=lambda it: -ranks.get(it.name, 0)):
        queues[facts.queue].append(facts)
    found: dict[int, list[ScaledGroup]] = defaultdict(list)
    for alternatives in queues.values():
        groups = [
            ScaledGroup(expression, facts.pool.at.to("spec", "autoscaler", "nodeGroups", index))
            for facts in alternatives
            if facts.pool.autoscaler is not None
            for index, expression in enumerate(facts.pool.autoscaler.node_groups)
        ]
        for behind, group in zip(reversed(range(len(groups))), groups, strict=True):
            found[STEP * (behind + 1)].append(group)
    return found


def meta(platform: Platform) -> Meta:
    """The identity of the ConfigMap of the priority expander."""
    return Meta(PRIORITIES, platform.name, platform.cluster_autoscaler.namespace)


def _ranks(platform: Platform) -> dict[str, int]:
    """The number of pools behind each pool of a shared queue."""
    return {
        name: len(queue.pools) - 1 - index
        for queue in platform.shared_queues
        for index, name in enumerate(queue.pools)
    }


OBJECTS: Generators = {"ConfigMap": priorities, "NodePool": node_pools}
