"""Two schedulers place GPU pods on the same nodes."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import At
from policygen.core.names import DEFAULT_SCHEDULER, LOCAL_QUEUE
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_jobs import DEFAULT_QUEUE, labels
from policygen.kubernetes.node_filters import Demand, misses
from policygen.kubernetes.node_groups import Node, NodeSet
from policygen.kubernetes.workloads import KINDS, PodTemplate, Workload
from policygen.lint.core.known_nodes import known_nodes
from policygen.lint.core.pod_demands import READS, PodDemand, pod_demands
from policygen.lint.kueue.queueless import names_a_queue, queueless
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.scheduler.packing import unpacked
from policygen.lint.volcano.queues import SCHEDULER

if TYPE_CHECKING:  # imported only if there is a spec
    from policygen.plan.pool import PoolFacts

Places = frozenset[Node] | frozenset[tuple[str, str]]
"""The nodes that take pods; if none is known, the labels that their node selector and their flavors need."""


class NodeUser(Struct, frozen=True, eq=False):
    """Pods of one scheduler that request an accelerator."""

    process: str
    """The program behind the name of the scheduler."""
    resource: str
    places: Places
    selector: frozenset[tuple[str, str]]
    """The node selector that the pods have without flavors."""
    workload: Workload
    template: PodTemplate


def check(facts: Facts) -> Hits:
    """Each scheduler sees the other's pods only once they are bound, so both can use the same GPU.

    Pods compete if a known node takes both. Without known nodes, they compete if no label that they need has different
    values, and their node selectors are equal or they need a label in common.
    A pool of a spec belongs to the scheduler that the spec names. Skips schedulers that the input does
    not distinguish.
    Source: the kubelet's admission, UnexpectedAdmissionError; kube-scheduler's cache.
    """
    return (hit for _, hit in facts.derive(conflicts))


def conflicts(facts: Facts) -> tuple[tuple[Workload, Hit], ...]:
    """The workloads at fault, each with its hit; use it with `facts.derive`."""
    return tuple(_conflicts(facts))


def _conflicts(facts: Facts) -> Iterator[tuple[Workload, Hit]]:
    users: dict[tuple[str, str, Places, Places], NodeUser] = {}
    for user in _users(facts):
        users.setdefault((user.process, user.resource, user.places, user.selector), user)
    # On a cluster, the other rule reports the pods that such nodes took.
    pools = {} if facts.cluster.seen and "pod-bypasses-scheduler" in facts.run else _pools(facts)
    first: list[NodeUser] = []
    for user in users.values():
        if pool := _foreign_pool(user, pools):
            yield user.workload, _in_pool(user, pool, pools, facts)
            continue
        rival = next((it for it in first if _compete(it, user)), None)
        if rival is None:
            first.append(user)
        else:
            wide, other = sorted((user, rival), key=_is_at_fault, reverse=True)
            same = facts.derive(unpacked).get(id(wide.workload))
            advice = (
                f"write schedulerName: {same.profile} in {wide.workload}"
                if same and same.profile == other.workload.scheduler_name(other.template)
                else "give each scheduler its own nodes with a taint and a nodeSelector"
            )
            yield (
                wide.workload,
                Hit(
                    RULE,
                    f"{wide.workload} and {other.workload} request {user.resource} on the same nodes, but use different "
                    f"schedulers, which can assign one GPU to both; {advice}",
                    wide.workload.scheduler_at(wide.template),
                    (other.template.at / "spec",),
                ),
            )


def _is_at_fault(user: NodeUser) -> tuple[int, bool]:
    """The larger for the user with more nodes than the other; if both have the same, for one without a scheduler."""
    nodes = sum(isinstance(it, Node) for it in user.places)
    size = nodes or -len(user.places)  # more labels mean fewer nodes
    return size, not user.workload.scheduler_name(user.template)


def _compete(one: NodeUser, other: NodeUser) -> bool:
    if one.process == other.process or one.resource != other.resource:
        return False
    if one.places == other.places:
        return True
    labels_ = [it for it in (*one.places, *other.places) if not isinstance(it, Node)]
    if len(labels_) < len(one.places) + len(other.places):
        return not one.places.isdisjoint(other.places)
    exclude = len(dict(labels_)) < len({*labels_})
    equal = one.selector == other.selector
    return not exclude and (equal or not one.places.isdisjoint(other.places))


def _users(facts: Facts) -> Iterator[NodeUser]:
    process = facts.cluster.derive(_processes)
    nodes = facts.derive(known_nodes)
    demands = (
        {id(it.template): it for it in facts.derive(pod_demands)}
        if nodes.all or facts.cluster.flavors
        else {}
    )
    known: dict[Demand, frozenset[Node]] = {}
    for workload in facts.cluster.workloads:
        if workload.kind == "DaemonSet":
            continue
        for template in workload.templates:
            requested = accelerators.requested(facts.cluster, template)
            if not requested:
                continue
            own = process.get(workload.scheduler_name(template) or DEFAULT_SCHEDULER)
            if own is None or (own != SCHEDULER and _needs_queue(facts, workload)):
                continue
            it = demands.get(id(template))
            selector = frozenset(template.spec.node_selector.items())
            needed = selector | _flavor_labels(it)
            for resource in requested:
                places: Places = _nodes(it, resource, nodes, known) if it else frozenset()
                yield NodeUser(own, resource, places or needed, selector, workload, template)


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


def _nodes(
    it: PodDemand, resource: str, nodes: NodeSet, known: dict[Demand, frozenset[Node]]
) -> frozenset[Node]:
    """The nodes that take the pods for certain: all labels that the pods read are known."""
    if LOCAL_QUEUE in labels(it.workload) and not it.ways[0].flavors:
        return frozenset()  # unknown flavors choose the nodes
    found: frozenset[Node] = frozenset()
    for way in it.ways:
        # Other requests seldom decide between nodes, and without them many demands are equal.
        demand = replace(way.demand, requests=((resource, Fraction(1)),))
        if demand not in known:
            known[demand] = frozenset(
                node
                for group in nodes.groups(demand.keys)
                if all(key in group.labels or group.knows(key) for key in demand.keys)
                and not misses(demand, group)
                for node in group.nodes
            )
        found |= known[demand]
    return found


def _pools(facts: Facts) -> Mapping[Node, "PoolFacts"]:
    """The pool of the spec that each node belongs to."""
    pools = facts.plan.pools if facts.plan else ()
    found = {}
    for node in facts.derive(known_nodes).all if pools else ():
        for pool in pools:
            selector = dict(pool.pool.node_selector).items()
            if node.name == pool.name if node.at is None else selector <= node.labels.items():
                found[node] = pool
                break
    return found


def _own_pools(user: NodeUser, pools: Mapping[Node, "PoolFacts"]) -> list["PoolFacts"]:
    """The pools whose nodes take the pods, one for each node."""
    return [pools[it] for it in user.places if isinstance(it, Node) and it in pools]


def _foreign_pool(user: NodeUser, pools: Mapping[Node, "PoolFacts"]) -> "PoolFacts | None":
    """A pool whose nodes take the pods, but that the spec gives to the other scheduler; None if there is none."""
    volcano = user.process == SCHEDULER
    foreign = [
        it
        for it in _own_pools(user, pools)
        if user.resource in it.resources and (it.scheduler == SCHEDULER) != volcano
    ]
    return min(foreign, key=lambda it: it.name, default=None)


def _in_pool(
    user: NodeUser, pool: "PoolFacts", pools: Mapping[Node, "PoolFacts"], facts: Facts
) -> Hit:
    own = [
        it.name
        for it in (facts.plan.pools if facts.plan else ())
        if (it.scheduler == SCHEDULER) == (user.process == SCHEDULER)
        and user.resource in it.resources
    ]
    choice = f"pool {own[0]}" if len(own) == 1 else "one of its own pools"
    scheduler = user.workload.scheduler_name(user.template) or DEFAULT_SCHEDULER
    its = SCHEDULER if pool.scheduler == SCHEDULER else _profile(facts, pool)
    at = user.workload.scheduler_at(user.template)
    if user.process == SCHEDULER and facts.spec and LOCAL_QUEUE in labels(user.workload):
        return Hit(
            RULE,
            f"the queue of {user.workload} uses pool {pool.name}, where scheduler {its} places pods, but the pods "
            f"use scheduler {scheduler}, so both schedulers can assign one GPU; write schedulerName: {its}",
            at,
        )
    advice = f"add a nodeSelector that excludes pool {pool.name}"
    mine = [it.scheduler for it in _own_pools(user, pools)]
    chosen = mine == [SCHEDULER] * len(user.places)
    if chosen:
        advice = f"write schedulerName: {its}, or a nodeSelector for another pool"
    elif own:
        advice = f"set nodeSelector to the labels of {choice}"
    return Hit(
        RULE,
        f"scheduler {scheduler} can place pods of {user.workload} on nodes of pool {pool.name}, where scheduler "
        f"{its} places pods, so both can assign one GPU; {advice}",
        at if chosen else user.template.at.to("spec", "nodeSelector"),
    )


def _profile(facts: Facts, pool: "PoolFacts") -> str:
    """The profile of kube-scheduler that the spec renders for a pool."""
    if facts.spec is None:
        return DEFAULT_SCHEDULER
    from policygen.plan.scheduler import scheduler_name  # noqa: PLC0415 - only with a spec

    return scheduler_name(facts.spec.platform, pool) or DEFAULT_SCHEDULER


def _processes(cluster: Cluster) -> dict[str, str]:
    """The process behind each scheduler name: profiles of one file are one process."""
    found = {SCHEDULER: SCHEDULER, DEFAULT_SCHEDULER: DEFAULT_SCHEDULER}
    for i, configuration in enumerate(cluster.scheduler_configurations):
        names = [profile.scheduler_name for profile in configuration.fields.profiles]
        found.update(
            dict.fromkeys(names, DEFAULT_SCHEDULER if DEFAULT_SCHEDULER in names else f"file {i}")
        )
    return found


RULE = ObjectRule(
    "two-schedulers-one-pool",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Give each scheduler its own nodes, with a taint and a nodeSelector.",
    judges=tuple(it for it in KINDS if it != "DaemonSet"),
    check=check,
    needs=frozenset({Need.WORKLOADS}),
    reads=("KubeSchedulerConfiguration", "Node", *READS),
)
