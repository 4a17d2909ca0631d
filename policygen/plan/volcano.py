"""Decides the objects of Volcano: the queue tree and pod groups."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from policygen.core.quantity import MEBIBYTE
from policygen.plan.amounts import CPU, HOST, MEMORY, apportion, text
from policygen.plan.decisions import Decisions, Generators
from policygen.plan.kind import Meta
from policygen.plan.kubernetes import priority_class_name
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import TeamNode, Tree
from policygen.spec import derived_names
from policygen.spec.types import Model


class Queue(Struct, frozen=True):
    """A queue. Amounts are canonical quantities, all for the same resources."""

    meta: Meta
    parent: str | None
    """None for a queue below Volcano's own `root`."""
    reclaimable: bool
    deserved: dict[str, str]
    capability: dict[str, str]
    guarantee: dict[str, str]
    """Empty if the queue reserves nothing."""
    priority: int | None
    node_group: str | None


class PodGroup(Struct, frozen=True):
    """Pods that start together."""

    meta: Meta
    queue: str
    min_member: int
    min_resources: dict[str, str]
    priority_class_name: str | None


def queues(decided: Decisions) -> Iterator[Queue]:
    """The trees of all Volcano pools, parents first.

    Volcano compares complete resource lists. From 1.13.0 to 1.14.1 a missing key of capability
    counts as 0 (`pkg/webhooks/admission/queues/validate/validate_queue.go`), and a missing extended
    resource is unlimited. So every queue names the resources of every Volcano pool, with 0 for
    those of other pools.
    """
    platform, trees = decided.platform, decided.trees_of("volcano")
    foreign = {
        resource: 0 for tree in trees for facts in tree.pools for resource in facts.resources
    }
    ranks = _ranks(trees)
    for tree in trees:
        facts = tree.pools[0]
        preempts = facts.policy.preemption_enabled
        deserved = deserved_amounts(tree)
        available = dict(facts.available)
        reserved = {
            key: sum(node.guarantee[facts.name][key] for node in tree.by_parent.get(None, ()))
            for key in facts.keys
        }

        def quantities(vector: dict[str, int]) -> dict[str, str]:
            full = {**vector, **{key: 0 for key in foreign if key not in vector}}
            return {key: text(key, full[key]) for key in (*HOST, *sorted(foreign))}

        yield Queue(
            meta=Meta(tree.queue, platform.name),
            parent=None,
            reclaimable=preempts,
            deserved=quantities(available),
            capability=quantities(available),
            guarantee={} if preempts else quantities(reserved),
            priority=None,
            node_group=facts.node_group,
        )
        for node in tree.nodes:
            yield Queue(
                meta=Meta(tree.name_of(node), platform.name),
                parent=tree.above(node),
                reclaimable=preempts,
                deserved=quantities(deserved[node.name]),
                capability=quantities(dict(node.limit[facts.name])),
                guarantee={} if preempts else quantities(dict(node.guarantee[facts.name])),
                priority=ranks.get(node.team.queue_priority),
                node_group=facts.node_group,
            )


def pod_groups(decided: Decisions) -> Iterator[PodGroup]:
    """A group for each gang of plain pods; other workloads make theirs on their own."""
    for assignment in decided.workloads.assignments:
        model, facts, namespace = assignment.model, assignment.facts, assignment.namespace
        if model.gang is None or model.gang.run_as != "pods":
            continue
        if facts.scheduler != "volcano" or not facts.policy.gang_scheduling:
            continue
        if namespace is None or assignment.queue is None:
            continue
        size = model.gang.size
        least: dict[str, str] = {}
        if model.cpu_milli:
            least[CPU] = text(CPU, model.cpu_milli * size)
        if model.memory_bytes:
            least[MEMORY] = text(MEMORY, model.memory_bytes * size)
        least[assignment.size.resource] = str(assignment.size.units * size)
        made = None
        if model.priority:
            made = priority_class_name(decided.spec, decided.pools, model.priority, facts)
        for name in group_names(model):
            yield PodGroup(
                meta=Meta(name, decided.platform.name, namespace.name),
                queue=assignment.queue,
                min_member=size,
                min_resources=least,
                priority_class_name=made,
            )


def group_names(model: Model) -> list[str]:
    """Names of a model's pod groups: one for each gang, since each gang starts on its own."""
    return [derived_names.pod_group(model, index) for index in range(model.replicas or 1)]


def _ranks(trees: Sequence[Tree]) -> dict[int | None, int]:
    """The priority of a Queue for each written one: the same, or its rank if any is negative.

    The schema from 1.14 on rejects negative ones, and only the order has an effect.
    """
    written = {node.team.queue_priority for tree in trees for node in tree.nodes}
    values = sorted(priority for priority in written if priority is not None)
    if not values or values[0] >= 0:
        return {priority: priority for priority in values}
    return {priority: rank for rank, priority in enumerate(values)}


def deserved_amounts(tree: Tree) -> dict[str, dict[str, int]]:
    """The amount that each queue can reclaim from borrowers.

    Its guarantee, plus its weight's share of the parent's rest by largest remainder, up to its
    limit. cpu and memory are proportional to the units; the own queue of a team with child teams has all
    that these leave.
    """
    facts = tree.pools[0]
    deserved: dict[str, dict[str, int]] = {}
    for parent, nodes in tree.by_parent.items():
        whole = dict(facts.available) if parent is None else deserved[parent]
        deserved |= _divide(facts, whole, nodes)
    return deserved


def _divide(
    facts: PoolFacts, whole: dict[str, int], nodes: Sequence[TeamNode]
) -> dict[str, dict[str, int]]:
    pool = facts.name
    shares: dict[str, dict[str, int]] = {node.name: dict.fromkeys(facts.keys, 0) for node in nodes}
    extra = dict.fromkeys((node.name for node in nodes), 0)
    for resource in facts.resources:
        floors = [node.guarantee[pool][resource] for node in nodes]
        ceilings = [node.limit[pool][resource] for node in nodes]
        free = apportion(
            whole[resource] - sum(floors),
            [node.weight for node in nodes],
            [0] * len(nodes),
            [ceiling - floor for floor, ceiling in zip(floors, ceilings, strict=True)],
        )
        for node, floor, more in zip(nodes, floors, free or [0] * len(nodes), strict=True):
            shares[node.name][resource] = floor + more
            extra[node.name] += more * facts.slices[resource]
    together = sum(extra.values())
    for key, step in ((CPU, 1), (MEMORY, MEBIBYTE)):
        left = whole[key] - sum(node.guarantee[pool][key] for node in nodes)
        for node in nodes:
            more = left // step * extra[node.name] // together * step if together else 0
            guarantee, limit = node.guarantee[pool][key], node.limit[pool][key]
            shares[node.name][key] = min(guarantee + more, limit)
        for node in nodes:
            if node.own:
                # What rounding and the limits of the child teams leave would belong to no queue.
                others = sum(shares[it.name][key] for it in nodes if it is not node)
                shares[node.name][key] = whole[key] - others
    return shares


def unprotected(tree: Tree) -> dict[str, dict[str, int]]:
    """By node and resource, how many guaranteed units the teams beside it can use together.

    Without preemption, a queue can use its guarantee and what its parent guarantees to no child. Volcano
    1.14.1 limits each queue (`realCapability` of the plugin capacity), and not the sum of several.
    """
    facts = tree.pools[0]
    found: dict[str, dict[str, int]] = {}
    if tree.scheduler != "volcano" or facts.policy.preemption_enabled:
        return found
    reach: dict[str, dict[str, int]] = {}
    for parent, nodes in tree.by_parent.items():  # parents come first
        whole = facts.available if parent is None else reach[parent]
        guarantees = {node.name: node.guarantee[facts.name] for node in nodes}
        for resource in facts.resources:
            rest = whole[resource] - sum(it[resource] for it in guarantees.values())
            for node in nodes:
                most = guarantees[node.name][resource] + max(rest, 0)
                limit = node.limit[facts.name][resource]
                reach.setdefault(node.name, {})[resource] = min(most, limit)
            together = sum(reach[node.name][resource] for node in nodes)
            for node in nodes:
                own = guarantees[node.name][resource]
                taken = together - reach[node.name][resource] - (whole[resource] - own)
                if own and taken > 0:
                    found.setdefault(node.name, {})[resource] = min(taken, own)
    return found


OBJECTS: Generators = {"Queue": queues, "PodGroup": pod_groups}
