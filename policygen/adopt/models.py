"""Reads models from the pod groups of Volcano, which policygen renders for gangs of plain pods."""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from policygen.adopt.capacity import NodeNeed
from policygen.adopt.quotas import HERE
from policygen.adopt.trees import Scope, TeamTree, amount, label, unused
from policygen.core.names import POD_GROUP
from policygen.core.quoting import quoted
from policygen.kubernetes import accelerators
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
    ranks: Collection[str],
) -> tuple[list[Model], dict[str, NodeNeed], list[tuple[str, str]]]:
    """A model for the pod groups of each name, and what one of its pods needs of a node, by pool.

    Also what no model says of pod groups that were written by hand. `ranks` are the priorities of the spec.
    """
    place = {
        branch.name: (tree.queue, branch.team)
        for tree in trees
        if tree.scheduler == "volcano"
        for branch in tree.branches
    }
    # A workload whose pods are in a group is itself the model.
    run = frozenset() if scope.rendered else _of_workloads(cluster)
    named: defaultdict[tuple[str, str], list[Entry[PodGroupView]]] = defaultdict(list)
    for group in cluster.pod_groups:
        if (group.namespace, group.name) in run:
            continue
        if scope.has(group.labels) and not group.object.is_made and group.fields.queue in place:
            match = _NUMBERED.fullmatch(group.name)
            named[group.namespace, match["name"] if match else group.name].append(group)
    models: dict[str, Model] = {}
    needs: dict[str, NodeNeed] = {}
    left: list[tuple[str, str]] = []
    for (namespace, name), groups in named.items():
        first = groups[0].fields
        pool, team = place[first.queue]
        size = max(first.min_member, 1)
        least = {key: amount(key, it) for key, it in (first.min_resources or {}).items()}
        units = sum(count for key, count in least.items() if key not in HOST)
        if namespace not in namespaces.get(team, ()):
            why = f"namespace {namespace} is not one of team {team}"
            if not namespace:
                why = "the manifest names no namespace"
            left.append((str(groups[0].object), f"it is not a model, because {why}"))
            continue
        priority = first.priority_class_name.removesuffix(PREEMPTING)
        if priority and priority not in ranks:
            left.append((str(groups[0].object), without_priority(cluster, priority)))
            priority = ""
        cpu, memory = least.get(CPU), least.get(MEMORY)
        own = label(name)
        own = unused(label(f"{namespace}-{own}") if own in models else own, models)
        models[own] = Model(
            name=own,
            at=HERE,
            workload="training",
            team=team,
            namespace=None if namespaces.get(team, ())[:1] == (namespace,) else namespace,
            priority=priority or None,
            gpus=units // size or None,
            cpu_milli=None if cpu is None else cpu // size,
            memory_bytes=None if memory is None else memory // size,
            replicas=len(groups) if len(groups) > 1 else None,
            gang=Gang(size),
            placement=Placement(pools=(pool,)),
        )
        before = needs.get(pool, NodeNeed())
        needs[pool] = NodeNeed(
            max(before.units, units // size),
            max(before.cpu_milli, (cpu or 0) // size),
            max(before.memory_bytes, (memory or 0) // size),
        )
    # Of a set, the comparison lists the fields of the objects.
    return list(models.values()), needs, [] if scope.rendered else left


def _of_workloads(cluster: Cluster) -> frozenset[tuple[str, str]]:
    """Namespace and name of the PodGroups that workloads with accelerators name."""
    return frozenset(
        (it.namespace, template.annotations[POD_GROUP])
        for it in cluster.workloads
        for template in it.templates
        if POD_GROUP in template.annotations and accelerators.requested(cluster, template)
    )


def without_priority(cluster: Cluster, name: str) -> str:
    """Why a model has no priority."""
    kinds = (cluster.priority_classes, cluster.workload_priority_classes)
    exists = any(known.knows(name) for known in kinds)
    why = "is not one that a spec can have" if exists else "does not exist"
    return f"its priority class {quoted(name)} {why}, so the model has no priority"
