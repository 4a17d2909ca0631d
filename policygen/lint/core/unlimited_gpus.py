"""GPU resources that nodes offer, and that no quota and no queue lists."""

from collections.abc import Mapping, Sequence

from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.node_groups import Node
from policygen.lint.core.known_nodes import empty_nodes
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.quotas import covered_resources, owners
from policygen.lint.rule import Facts
from policygen.lint.volcano import queues

READS = ("ResourceQuota", "ClusterQueue", "Cohort", "Configuration", "Queue", "Node")
"""The kinds that `unlimited_gpus` reads."""


def unlimited_gpus(facts: Facts) -> Mapping[str, Sequence[Node]]:
    """The resources with their nodes; use it with `facts.derive`.

    With MIG or time-slicing, a device plugin can offer other names than nvidia.com/gpu. Without
    resources that Kueue excludes, or counts under a name that a queue lists.
    """
    quotas = facts.cluster.resource_quotas
    counted = {name.removeprefix("requests.") for quota in quotas for name in quota.fields.hard}
    return _offered(facts, _of_queues(facts) | counted)


def gpus_without_queue(facts: Facts) -> Mapping[str, Sequence[Node]]:
    """The same, and those that only a ResourceQuota lists, which limits only its namespace; use it with `facts.derive`."""
    return _offered(facts, _of_queues(facts))


def _of_queues(facts: Facts) -> set[str]:
    cluster = facts.cluster
    limited = {name for owner in owners(cluster) for _, name in covered_resources(owner)}
    for queue in cluster.queues:
        limited.update(*queues.amounts(queue.fields).values())
    return limited


def _offered(facts: Facts, limited: set[str]) -> Mapping[str, Sequence[Node]]:
    found: dict[str, list[Node]] = {}
    for node in facts.derive(empty_nodes).all:
        for name, amount in node.allocatable.items():
            if amount > 0 and is_one(name) and name not in limited:
                found.setdefault(name, []).append(node)
    rules = settings(facts)
    return {
        name: nodes
        for name, nodes in found.items()
        if not rules.charged({name: nodes[0].allocatable[name]}).keys() <= limited
    }
