"""The nodes on which pods with accelerators can run, by the scheduler that places them."""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import At
from policygen.core.names import DEFAULT_SCHEDULER, LOCAL_QUEUE
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_jobs import DEFAULT_QUEUE, labels
from policygen.kubernetes.node_filters import Demand
from policygen.kubernetes.node_index import Bits, NodeIndex
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.pod_demands import PodDemand, demands_by_template
from policygen.lint.kueue.queueless import names_a_queue, queueless
from policygen.lint.rule import Facts
from policygen.lint.volcano.queues import SCHEDULER
from policygen.lint.volcano.rules.gang_scheduler_not_volcano import without_volcano

Labels = frozenset[tuple[str, str]]
"""Labels of nodes."""


class NodeUser(Struct, frozen=True, eq=False):
    """Pods of one scheduler that request an accelerator."""

    process: str
    """The program behind the name of the scheduler."""
    resource: str
    nodes: Bits
    """The nodes that take the pods; 0: none is known."""
    needed: Labels
    """If no node is known, the labels that their node selector and their flavors need."""
    selector: Labels
    """The node selector that the pods have without flavors."""
    workload: Workload
    template: PodTemplate


class FirstUsers:
    """Pods of which no two schedulers compete for nodes, in the order of the input."""

    def __init__(self) -> None:
        self._users: dict[str, list[NodeUser]] = {}
        """By resource."""
        self._nodes: dict[tuple[str, str], Bits] = {}
        """All nodes that the pods of a scheduler use, by resource and scheduler."""

    def add(self, user: NodeUser) -> None:
        """Add a user that competes with no other."""
        self._users.setdefault(user.resource, []).append(user)
        key = user.resource, user.process
        self._nodes[key] = self._nodes.get(key, 0) | user.nodes

    def rival(self, user: NodeUser) -> NodeUser | None:
        """The first user that competes with another one; None if none does."""
        if user.nodes and not any(
            nodes & user.nodes
            for (resource, process), nodes in self._nodes.items()
            if resource == user.resource and process != user.process
        ):
            return None  # this is the usual case, and one look at each scheduler decides it
        others = self._users.get(user.resource, ())
        return next((it for it in others if _compete(it, user)), None)


def _compete(one: NodeUser, other: NodeUser) -> bool:
    """Whether two users of one resource have different schedulers and can use the same nodes."""
    if one.process == other.process:
        return False
    if one.nodes or other.nodes:
        return bool(one.nodes & other.nodes)
    labels_ = {*one.needed, *other.needed}
    if len(dict(labels_)) < len(labels_):
        return False  # they need different values of a label
    equal = one.needed == other.needed or one.selector == other.selector
    return equal or not one.needed.isdisjoint(other.needed)


class GpuRequest(Struct, frozen=True, eq=False):
    """A template that requests accelerators, and the scheduler of its pods."""

    process: str
    """The program behind the name of the scheduler."""
    resources: tuple[str, ...]
    workload: Workload
    template: PodTemplate


def gpu_requests(facts: Facts) -> Iterator[GpuRequest]:
    """Each template that requests an accelerator. Skips unknown schedulers."""
    process = facts.cluster.derive(_processes)
    wrong = "gang-scheduler-not-volcano" in facts.run
    for workload in facts.cluster.workloads:
        if workload.kind == "DaemonSet":
            continue
        for template in workload.templates:
            requested = accelerators.requested(facts.cluster, template)
            if not requested:
                continue
            if wrong and without_volcano(facts.cluster, workload, template):
                continue  # that rule reports their scheduler
            own = process.get(workload.scheduler_name(template) or DEFAULT_SCHEDULER)
            if own is None or (own != SCHEDULER and _needs_queue(facts, workload)):
                continue
            yield GpuRequest(own, tuple(requested), workload, template)


def node_users(facts: Facts, requests: Iterable[GpuRequest]) -> Iterator[NodeUser]:
    """The nodes of each request, once for each resource."""
    index = facts.derive(node_index)
    known_demands = index.all or facts.cluster.flavors
    demands = facts.derive(demands_by_template) if known_demands else {}
    known: dict[Demand, Bits] = {}
    for request in requests:
        template = request.template
        it = demands.get(id(template))
        selector = frozenset(template.spec.node_selector.items())
        needed = selector | _flavor_labels(it)
        for resource in request.resources:
            nodes = _nodes(it, resource, index, known) if it else 0
            labels_ = frozenset() if nodes else needed
            yield NodeUser(
                request.process, resource, nodes, labels_, selector, request.workload, template
            )


def _flavor_labels(demand: PodDemand | None) -> frozenset[tuple[str, str]]:
    """The node labels that all flavors that Kueue can choose add to the node selector of the pods."""
    ways = demand.ways if demand else ()
    every = [
        frozenset(label for flavor in way.flavors for label in flavor.fields.node_labels.items())
        for way in ways
    ]
    return every[0].intersection(*every[1:]) if every else frozenset()


def _needs_queue(facts: Facts, workload: Workload) -> bool:
    """Whether Kueue would choose its nodes, if it named a queue in the right place, as other rules report."""
    if LOCAL_QUEUE in labels(workload):
        return False
    known = facts.cluster.local_queues
    if known.knows(DEFAULT_QUEUE, workload.namespace) or names_a_queue(workload):
        return True
    reported = "workload-names-no-queue" in facts.run
    return reported and workload.at in facts.derive(_queueless)


def _queueless(facts: Facts) -> frozenset[At]:
    return frozenset(it.workload.at for it in facts.derive(queueless))


def _nodes(it: PodDemand, resource: str, index: NodeIndex, known: dict[Demand, Bits]) -> Bits:
    """The nodes that take the pods for certain: all labels that the pods read are known."""
    if LOCAL_QUEUE in labels(it.workload) and not it.ways[0].flavors:
        return 0  # unknown flavors choose the nodes
    found: Bits = 0
    for way in it.ways:
        # Other requests seldom decide between nodes, and without them many demands are equal.
        demand = replace(way.demand, requests=((resource, Fraction(1)),))
        if demand not in known:
            known[demand] = index.takers(demand) & index.certain(demand)
        found |= known[demand]
    return found


def _processes(cluster: Cluster) -> dict[str, str]:
    """The process behind each scheduler name: profiles of one file are one process."""
    found = {SCHEDULER: SCHEDULER, DEFAULT_SCHEDULER: DEFAULT_SCHEDULER}
    for i, configuration in enumerate(cluster.scheduler_configurations):
        names = [profile.scheduler_name for profile in configuration.fields.profiles]
        found.update(
            dict.fromkeys(names, DEFAULT_SCHEDULER if DEFAULT_SCHEDULER in names else f"file {i}")
        )
    return found
