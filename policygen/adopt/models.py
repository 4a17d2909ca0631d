"""Reads models from the pod groups of Volcano, which policygen renders for gangs of plain pods."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from policygen.adopt.capacity import NodeNeed
from policygen.adopt.quotas import HERE
from policygen.adopt.trees import Scope, TeamTree, amount
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import PodGroupView
from policygen.plan.amounts import CPU, HOST, MEMORY
from policygen.spec.types import Gang, Model, Placement

_NUMBERED = re.compile(r"(?P<name>.+)\.(?P<number>[0-9]+)")
PREEMPTING = ".preempting"
"""The end of the name of the second class of a priority (`derived_names.preempting_class`)."""


def of_pod_groups(
    cluster: Cluster,
    trees: Sequence[TeamTree],
    namespaces: Mapping[str, tuple[str, ...]],
    scope: Scope,
) -> tuple[list[Model], dict[str, NodeNeed]]:
    """A model for the pod groups of each name, and what one of its pods needs of a node, by pool."""
    place = {
        branch.name: (tree.queue, branch.team)
        for tree in trees
        if tree.scheduler == "volcano"
        for branch in tree.branches
    }
    named: defaultdict[tuple[str, str], list[Entry[PodGroupView]]] = defaultdict(list)
    for group in cluster.pod_groups:
        if scope.has(group.labels) and not group.object.is_made and group.fields.queue in place:
            match = _NUMBERED.fullmatch(group.name)
            named[group.namespace, match["name"] if match else group.name].append(group)
    models: list[Model] = []
    needs: dict[str, NodeNeed] = {}
    for (namespace, name), groups in named.items():
        first = groups[0].fields
        pool, team = place[first.queue]
        size = max(first.min_member, 1)
        least = {key: amount(key, it) for key, it in (first.min_resources or {}).items()}
        units = sum(count for key, count in least.items() if key not in HOST)
        priority = first.priority_class_name
        cpu, memory = least.get(CPU), least.get(MEMORY)
        models.append(
            Model(
                name=name,
                at=HERE,
                workload="training",
                team=team,
                namespace=None if namespaces.get(team, ())[:1] == (namespace,) else namespace,
                priority=priority.removesuffix(PREEMPTING) or None,
                gpus=units // size or None,
                cpu_milli=None if cpu is None else cpu // size,
                memory_bytes=None if memory is None else memory // size,
                replicas=len(groups) if len(groups) > 1 else None,
                gang=Gang(size),
                placement=Placement(pools=(pool,)),
            )
        )
        before = needs.get(pool, NodeNeed())
        needs[pool] = NodeNeed(
            max(before.units, units // size),
            max(before.cpu_milli, (cpu or 0) // size),
            max(before.memory_bytes, (memory or 0) // size),
        )
    return models, needs
