"""How many pods of each template run at once on the known nodes."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from policygen.core.names import POD_GROUP
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.kueue_jobs import ELASTIC, MIN_PARALLELISM
from policygen.kubernetes.node_domains import EqualPods, Room, in_one_domain, room, selected
from policygen.kubernetes.node_filters import Demand
from policygen.kubernetes.node_index import NodeIndex
from policygen.kubernetes.pod_labels import pod_labels
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.pod_demands import PodDemand, demands_by_template, pod_demands
from policygen.lint.core.pod_partners import partners
from policygen.lint.core.queue_rooms import RESTARTED
from policygen.lint.rule import Facts, Need
from policygen.lint.volcano.queues import groups


def node_rooms(facts: Facts) -> tuple[tuple[PodDemand, Room], ...]:
    """The room for each template if it is at most its replicas; use it with `facts.derive`.

    With several flavors, this is the sum of their rooms, because pods can be queued one by one.
    """
    return tuple(_rooms(facts))


def exceeding(facts: Facts) -> Mapping[PodDemand, Room]:
    """The templates with pods that must run at once, but lack room; use it with `facts.derive`."""
    return {
        it: room for it, room in facts.derive(node_rooms) if 0 < room.pods < _at_once(facts, it)
    }


def _at_once(facts: Facts, it: PodDemand) -> int:
    """How many pods of a template must run at once.

    Pods of Jobs can run one after the other, but Kueue admits them together, and Volcano starts as many
    together as their PodGroup needs.
    """
    pods = it.pods or 0
    if it.workload.object.group != "batch":
        return pods
    if it.ways[0].flavors:
        fewer = not it.workload.annotations.keys().isdisjoint((MIN_PARALLELISM, ELASTIC))
        return 0 if fewer else pods
    cluster, namespace = facts.cluster, it.workload.namespace
    group = cluster.pod_groups.get(it.template.annotations.get(POD_GROUP, ""), namespace)
    if group is None or len(cluster.derive(groups).get((namespace, group.name), ())) > 1:
        return 0
    return min(pods, group.fields.min_member or 0)


def most_on_nodes(facts: Facts, template: PodTemplate, enough: int) -> int:
    """How many of `enough` pods of a template have room on the nodes; `enough` if it is unknown."""
    index = facts.derive(node_index)
    it = facts.derive(demands_by_template).get(id(template)) if index.all else None
    found = None if it is None else room_on(it, index, enough)
    return enough if found is None else min(found.pods, enough)


def gpus_beside(facts: Facts, template: PodTemplate) -> tuple[int, Sequence[Workload]] | None:
    """How many pods have GPUs beside workloads that certainly use the same nodes, and these; None: unknown.

    Counts workloads whose pods do not end, and that the pods do not evict.
    """
    index = facts.derive(node_index)
    it = facts.derive(demands_by_template).get(id(template)) if index.all else None
    if it is None or len(it.ways) > 1 or it.ways[0].flavors:
        return None
    own = it.ways[0].demand
    nodes, [name, each] = index.takers(own), _device(own)
    if not each or any(name not in node.allocatable for _, node in index.entries(nodes)):
        return None
    entries = index.entries(nodes)
    free = sum((node.allocatable[name] * node.count for _, node in entries), Fraction(0))
    beside: dict[Workload, None] = {}
    for other in facts.derive(pod_demands):
        demand, same = other.ways[0].demand, other.workload is it.workload
        used = dict(demand.requests).get(name, 0) * (other.pods or 0)
        if same or not used or len(other.ways) > 1 or other.workload.kind not in RESTARTED:
            continue
        taking = index.takers(demand)
        if demand.priority >= own.priority and taking and not taking & ~nodes:
            free -= used
            beside[other.workload] = None
    return max(0, int(free // each)), [*beside]


def _device(demand: Demand) -> tuple[str, Fraction]:
    """The first accelerator that a pod requests, with the amount; 0: none."""
    return next((it for it in demand.requests if is_one(it[0])), ("", Fraction(0)))


def _rooms(facts: Facts) -> Iterator[tuple[PodDemand, Room]]:
    index = facts.derive(node_index)
    for it in facts.derive(pod_demands) if index.all else ():
        if it.pods is None:
            continue
        found = room_on(it, index, it.pods + 1)  # a rolling update needs one more
        if found is not None:
            yield it, found
        elif len(it.ways) == 1:
            labels = pod_labels(it.workload, it.template)
            pods = EqualPods(it.template.spec, labels, it.ways[0].demand)
            near = list(_near(facts, it, pods, index))
            if near:
                yield it, min(near, key=lambda one: one.pods)


def room_on(it: PodDemand, index: NodeIndex, enough: int) -> Room | None:
    """The room for pods in all ways; None: unknown, or there is room for `enough` pods."""
    labels = pod_labels(it.workload, it.template)
    found = []
    for way in it.ways:
        one = room(EqualPods(it.template.spec, labels, way.demand), index, enough)
        if one is None:
            return None
        found.append(one)
    total = sum(one.pods for one in found)
    largest = max(found, key=lambda one: one.pods)
    same = total == largest.pods
    return largest if same else Room(total, sum(one.nodes for one in found))


def _near(facts: Facts, it: PodDemand, pods: EqualPods, index: NodeIndex) -> Iterator[Room]:
    """The room by affinities of the pods to themselves, if it is too small and these select no other pods of the input."""
    if Need.WHOLE not in facts.given or not mapping(it.template.spec.affinity, "podAffinity"):
        return
    for term, one in in_one_domain(pods, index):
        if one.pods > (it.pods or 0):
            continue
        others = facts.derive(partners).near(it.workload.namespace)
        if not any(
            selected(term, each.labels) for each in others if each.template is not it.template
        ):
            yield one
