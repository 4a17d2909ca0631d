"""Records what the spec states, as series: the nodes of pools, the namespaces, guarantees and limits of teams."""

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct

from policygen.plan.amounts import CPU, MEMORY
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions
from policygen.plan.monitoring.rule import (
    MetricRule,
    node_label,
    one_of,
    resource_label,
    series,
)
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import TeamNode, Tree

NODE_POOL = "policygen:node_pool"
"""1 for each node of a pool."""
NAMESPACE_TEAM = "policygen:namespace_team"
"""1 for each namespace of exactly one team."""
TEAM_GUARANTEE = "policygen:team_guarantee"
TEAM_LIMIT = "policygen:team_limit"
POOL_CAPACITY = "policygen:pool_capacity"
"""The units that all teams together can use."""
POOL_LARGEST_POD = "policygen:pool_largest_pod"
"""The most units that a pod of a model of the pool requests."""


class Leaf(Struct, frozen=True, eq=False):
    """A team in a pool, with its own guarantee and the smallest limit above it."""

    tree: Tree
    node: TeamNode
    facts: PoolFacts

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of its series."""
        return {"pool": self.facts.name, "team": self.node.team.name}

    def limit(self, resource: str) -> int:
        """The smallest limit of the team and of the teams above it."""
        nodes = (self.node, *self.tree.ancestors(self.node))
        return min(it.limit[self.facts.name][resource] for it in nodes)


class PodNeed(Struct, frozen=True):
    """What the smallest pods of a pool request of one resource, and the largest of them."""

    smallest: int
    largest: int
    cpu_milli: int
    memory_bytes: int


def leaves(decided: Decisions) -> Iterator[Leaf]:
    """Each team with workloads, in each of its pools."""
    for tree in decided.trees:
        for node in tree.leaves:
            for facts in tree.pools:
                yield Leaf(tree, node, facts)


def rules(decided: Decisions) -> Iterator[MetricRule]:
    """The recording rules of the spec's facts. Each series has the label `set` of the spec."""
    for facts in decided.pools:
        yield _node_pool(facts)
    for namespace, team in _teams_of_namespaces(decided):
        yield constant(NAMESPACE_TEAM, 1, {"namespace": namespace, "team": team})
    for leaf in leaves(decided):
        for resource in leaf.facts.resources:
            labels = {**leaf.labels, "resource": resource}
            guarantee = leaf.node.guarantee[leaf.facts.name][resource]
            yield constant(TEAM_GUARANTEE, guarantee, labels)
            yield constant(TEAM_LIMIT, leaf.limit(resource), labels)
    for facts in decided.pools:
        for resource in facts.resources:
            labels = {"pool": facts.name, "resource": resource}
            yield constant(POOL_CAPACITY, facts.available[resource], labels)
            need = pod_need(decided, facts, resource)
            yield constant(POOL_LARGEST_POD, need.largest, labels)


def constant(name: str, value: int, labels: Mapping[str, str]) -> MetricRule:
    """A rule that records a number of the spec."""
    return MetricRule(f"vector({value})", record=name, labels=labels)


def _node_pool(facts: PoolFacts) -> MetricRule:
    """Only nodes with a unit of the pool count, since pools of different units can share labels."""
    labels = {node_label(key): value for key, value in facts.pool.node_selector}
    units = one_of("resource", map(resource_label, facts.resources))
    expr = (
        f"max by (node) ({series('kube_node_labels', labels)})\n"
        f"and on (node) {series('kube_node_status_allocatable', {}, units)} > 0"
    )
    return MetricRule(expr, record=NODE_POOL, labels={"pool": facts.name})


def _teams_of_namespaces(decided: Decisions) -> Iterator[tuple[str, str]]:
    found = [(it.name, team.name) for team in decided.spec.teams for it in team.namespaces]
    count = Counter(name for name, _ in found)
    return ((name, team) for name, team in found if count[name] == 1)


def pod_need(decided: Decisions, facts: PoolFacts, resource: str) -> PodNeed:
    """The requests of the pods of the models of a pool; one unit with its share if no model runs there."""
    mine = [
        it
        for it in decided.workloads.assignments
        if it.size.resource == resource and facts in it.pools
    ]
    hosts = [_host(it, facts) for it in mine] or [_share(facts, resource, 1)]
    units = [it.size.units for it in mine] or [1]
    return PodNeed(
        smallest=min(units),
        largest=max(units),
        cpu_milli=min(cpu for cpu, _ in hosts),
        memory_bytes=min(memory for _, memory in hosts),
    )


def _host(assignment: Assignment, facts: PoolFacts) -> tuple[int, int]:
    cpu, memory = _share(facts, assignment.size.resource, assignment.size.units)
    model = assignment.model
    return (
        cpu if model.cpu_milli is None else model.cpu_milli,
        memory if model.memory_bytes is None else model.memory_bytes,
    )


def _share(facts: PoolFacts, resource: str, units: int) -> tuple[int, int]:
    share = facts.vector({**dict.fromkeys(facts.resources, 0), resource: units})
    return share[CPU], share[MEMORY]
