"""A workload requires one domain of a topology for all its pods, but no domain has room for them."""

from policygen.core.quoting import counted
from policygen.kubernetes.kueue_jobs import MIN_PARALLELISM, TOGETHER
from policygen.kubernetes.node_groups import NodeSize
from policygen.kubernetes.node_index import NodeIndex
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.pod_demands import READS, PodDemand, Way, pod_demands
from policygen.lint.kueue.topologies import levels
from policygen.lint.kueue.topology_requests import GROUP, REQUIRED
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue never admits it, also if all nodes are empty.

    Source: pkg/cache/scheduler/tas_flavor_snapshot.go of Kueue 0.19.2, findTopologyAssignment.
    """
    index = facts.derive(node_index)
    for it in facts.derive(pod_demands):
        level, pods = it.template.annotations.get(REQUIRED), _pods(it)
        if level is None or pods is None or GROUP in it.template.annotations:
            continue
        most = 0
        for way in it.ways:
            room = _room(facts, way, level, index, pods)
            if room is None or room >= pods:
                break
            most = max(most, room)
        else:
            if most > 0:
                yield Hit(
                    RULE,
                    f"{it.workload} requires that its {pods} pods run on nodes with the same {level}, but such nodes "
                    f"have room for at most {counted(most, 'pod')}, so Kueue never admits it; require a wider "
                    "level, or run fewer pods",
                    it.template.at.to("metadata", "annotations", REQUIRED),
                )


def _pods(it: PodDemand) -> int | None:
    """The number of pods that need one domain; None if it is unknown, or if fewer can start."""
    count = it.template.replicas
    if count is None or it.workload.kind not in TOGETHER:
        return None
    if MIN_PARALLELISM in it.workload.annotations:
        return None
    groups = it.workload.spec.get("replicas", 1) if it.workload.kind == "LeaderWorkerSet" else 1
    return count // groups if isinstance(groups, int) and groups > 0 else None


def _room(facts: Facts, way: Way, level: str, index: NodeIndex, enough: int) -> int | None:
    """How many pods the nodes of the largest domain take, or of one that takes enough.

    None if a flavor or node is not known enough.
    """
    for flavor in way.flavors:
        known = levels(facts.cluster, flavor)
        if flavor.fields.topology_name and (known is None or level not in known):
            return None  # other rules report it
    if not any(flavor.fields.topology_name for flavor in way.flavors):
        return None
    index = index.of(way.demand)
    takers = index.takers(way.demand)
    most = 0
    for equal in index.values(level).values():
        room = 0
        for _, node in index.entries(equal & takers):
            pods = NodeSize(node.allocatable, 1, node.stated).holds(way.demand.requests)
            if pods is None:
                return None
            room += int(pods) * node.count
            if room >= enough:
                return room
        most = max(most, room)
    return most


RULE = ObjectRule(
    "topology-domain-too-small",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Require a wider level of the topology, or run fewer pods.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.NODES, Need.WHOLE}),
    reads=("Topology", *READS),
)
