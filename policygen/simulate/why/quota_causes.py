"""Why Kueue does not give a workload quota, in a state in which nothing changes any more.

Source: pkg/scheduler of Kueue 0.19.2, as in `policygen.simulate.kueue`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from msgspec import structs

from policygen.kubernetes import accelerators
from policygen.simulate.kueue.assignment import FlavorAssignment, Mode, assign, topology_refusal
from policygen.simulate.kueue.entry import Outcome
from policygen.simulate.kueue.queue import ANY, NEVER, Group, SimulatedQueue
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.workload import PodSet, QueuedWorkload
from policygen.simulate.why.causes import (
    Cause,
    CauseKind,
    FlavorObstacle,
    ObstacleKind,
    QuotaHolder,
)
from policygen.simulate.why.quota_limits import (
    borrowing_limits,
    lending_limits,
    without_borrowing_limits,
)
from policygen.simulate.why.situation import Settled

_NAMED = 3
"""The most holders, and workloads of each, that are named."""
REFUSING = frozenset(
    {
        ObstacleKind.TAINT,
        ObstacleKind.AFFINITY,
        ObstacleKind.MISSING,
        ObstacleKind.TOPOLOGY_REFUSED,
    }
)
"""Why a flavor does not match pods."""


def quota_cause(settled: Settled, workload: QueuedWorkload) -> Cause:
    """Why a workload has no quota. `settled` keeps its state, and the workload waits in it."""
    state = settled.state
    queue = state.queue_of(workload)
    basic = Cause(
        CauseKind.ADMISSIBLE,
        f"ClusterQueue {queue.name}",
        queue.name,
        reclaim=queue.reclaim_within_cohort,
        within=queue.within_cluster_queue,
    )
    if queue.inactive:
        return _with(
            basic, CauseKind.CLUSTER_QUEUE_STOPPED, f"ClusterQueue {queue.name} is inactive"
        )
    if workload.name.partition("/")[0] not in queue.namespaces:
        words = "workload namespace doesn't match ClusterQueue selector"
        return _with(basic, CauseKind.NAMESPACE_NOT_SELECTED, words)
    if workload.refusal:
        return _with(basic, CauseKind.REFUSED, workload.refusal)
    if workload.name in settled.livelocked:
        others = tuple(sorted(settled.livelocked - {workload.name}))
        return Cause(CauseKind.LIVELOCK, basic.about, queue.name, names=others)
    fresh = replace(workload)
    message = assign(state, fresh, queue).message
    if fresh.partial:
        fewer = (structs.replace(it, count=it.fewest) for it in fresh.pod_sets)
        fresh = replace(fresh, pod_sets=tuple(fewer))
        basic = structs.replace(
            basic,
            pods=sum(it.count for it in workload.pod_sets),
            fewest=sum(it.count for it in fresh.pod_sets),
        )
    found = assign(state, fresh, queue)
    of_quota = tuple(_obstacles(state, fresh, queue, found))
    obstacles = tuple(_sorted((*of_quota, *_topology_obstacles(state, found, of_quota))))
    head = _head(queue, workload)
    if head is not None:
        return structs.replace(
            basic,
            kind=CauseKind.QUEUE_HEAD,
            message=head.message,
            obstacles=obstacles,
            names=(head.name,),
        )
    entry = settled.entries.get(workload.name)
    message = message or (entry.message if entry else workload.message)
    kind = _kind(state, queue, found, obstacles, workload.priority)
    if kind is CauseKind.ADMISSIBLE and entry and entry.outcome is not Outcome.ADMITTED:
        kind = CauseKind.ANOTHER_FIRST
    return structs.replace(basic, kind=kind, message=message, obstacles=obstacles)


def _with(cause: Cause, kind: CauseKind, message: str) -> Cause:
    return Cause(
        kind, cause.about, cause.queue, message, reclaim=cause.reclaim, within=cause.within
    )


def _head(queue: SimulatedQueue, workload: QueuedWorkload) -> QueuedWorkload | None:
    """The workload that a StrictFIFO queue tries first; None: it is this one, or the queue is not strict."""
    first = first_of(queue)
    return None if first is None or first.name == workload.name else first


def first_of(queue: SimulatedQueue) -> QueuedWorkload | None:
    """The workload without which a StrictFIFO queue tries no other; None: the queue is not strict."""
    if not queue.pending.strict:
        return None
    return min(queue.pending.waiting(), key=lambda it: it.order, default=None)


def _kind(
    state: QueueState,
    queue: SimulatedQueue,
    found: FlavorAssignment,
    obstacles: tuple[FlavorObstacle, ...],
    priority: int,
) -> CauseKind:
    if found.mode is Mode.FIT or not obstacles:
        return CauseKind.ADMISSIBLE
    if any(it.kind is ObstacleKind.NOT_COVERED for it in obstacles):
        return CauseKind.NOT_COVERED
    short = [it for it in obstacles if it.kind not in REFUSING]
    if not short:
        return CauseKind.FLAVORS_REFUSE
    if any(it.kind is ObstacleKind.TOPOLOGY_FULL for it in obstacles):
        _, failure = state.place(found.placing, empty=True)
        return CauseKind.TOPOLOGY_FULL if failure is None else CauseKind.TOPOLOGY_TOO_SMALL
    refused = _all_refused(obstacles)
    if refused:
        return CauseKind.FLAVORS_REFUSE
    first = short[0]
    if first.kind is ObstacleKind.ABOVE_MAXIMUM:
        return CauseKind.ABOVE_MAXIMUM
    node, pair = queue.node, state.pairs.index((first.flavor, first.resource))
    missing = first.asked - first.free
    if _limited(node, pair, missing):
        return CauseKind.BORROWING_LIMIT
    if first.idle >= missing:
        return CauseKind.NOT_LENT
    if first.nominal >= first.asked and _could_preempt(queue, first, priority):
        return CauseKind.MAY_NOT_PREEMPT
    return CauseKind.NO_FREE_QUOTA


def _all_refused(obstacles: tuple[FlavorObstacle, ...]) -> bool:
    """Whether some pod set is refused by all of its flavors."""
    short = {it.pod_set for it in obstacles if it.kind not in REFUSING}
    return any(it.pod_set not in short for it in obstacles)


def _could_preempt(queue: SimulatedQueue, first: FlavorObstacle, priority: int) -> bool:
    """Whether other policies gave it what others use: borrowed quota, or that of a lower priority."""
    lent = any(it.borrowed and it.queue != queue.name for it in first.holders)
    lower = any(it.priority < priority for it in queue.workloads.values())
    return (lent and queue.reclaim_within_cohort != ANY) or (
        lower and queue.within_cluster_queue == NEVER
    )


def _limited(node: QuotaNode, pair: int, missing: int) -> bool:
    """Whether borrowing limits of the queue or of cohorts, and nothing else, keep it from the amount."""
    limited = any(it.borrowing_limit[pair] is not None for it in (node, *node.ancestors()))
    if node.parent is None or not limited:
        return False
    return without_borrowing_limits(node, pair) - node.available(pair) >= missing


def _topology_obstacles(
    state: QueueState, found: FlavorAssignment, of_quota: Iterable[FlavorObstacle]
) -> Iterator[FlavorObstacle]:
    """The pod set for which no domain of its topology has room; without its quota, no empty domain."""
    if found.mode is Mode.FIT or not found.placing:
        return
    short = {(it.pod_set, it.flavor) for it in of_quota}
    ready = short.isdisjoint((it.name, it.flavor) for it in found.placing)
    _, failure = state.place(found.placing, empty=not ready)
    for it in found.placing if failure is not None else ():
        if failure is not None and it.name == failure[0]:
            yield FlavorObstacle(ObstacleKind.TOPOLOGY_FULL, it.name, it.flavor)


def _sorted(obstacles: Iterable[FlavorObstacle]) -> list[FlavorObstacle]:
    """Those of flavors that match the pods first, of these GPUs, and of these the smallest shortage."""
    order = {
        ObstacleKind.NOT_COVERED: 0,
        ObstacleKind.TOPOLOGY_FULL: 1,
        ObstacleKind.NO_FREE_QUOTA: 2,
        ObstacleKind.ABOVE_MAXIMUM: 3,
    }
    return sorted(
        obstacles,
        key=lambda it: (
            order.get(it.kind, 4),
            not accelerators.is_one(it.resource),
            (it.asked - it.free) / max(it.asked, 1),
        ),
    )


def _obstacles(
    state: QueueState, workload: QueuedWorkload, queue: SimulatedQueue, found: FlavorAssignment
) -> Iterator[FlavorObstacle]:
    """Why each flavor does not hold each pod set."""
    assumed: dict[int, int] = {}
    for i, pod_set in enumerate(workload.pod_sets):
        requests = pod_set.total(pod_set.count)
        if "pods" in queue.group_of:
            requests["pods"] = pod_set.count
        for resource in (it for it in requests if requests[it] and it not in queue.group_of):
            amount = requests[resource]
            yield FlavorObstacle(
                ObstacleKind.NOT_COVERED, pod_set.name, resource=resource, asked=amount
            )
        for group in queue.groups:
            wanted = {it: requests[it] for it in sorted(requests) if it in group.covered}
            for flavor in group.flavors if wanted else ():
                refused = _refused(state, queue, pod_set, group, flavor.name)
                if refused is not None:
                    yield refused
                    continue
                for name, amount in wanted.items():
                    pair = flavor.pairs[name]
                    asked = assumed.get(pair, 0) + amount
                    yield from _shortage(state, queue, pair, pod_set.name, asked)
        for one in found.pod_sets[i : i + 1]:
            for name, it in one.chosen.items():
                assumed[it.pair] = assumed.get(it.pair, 0) + one.requests[name]


def _refused(
    state: QueueState, queue: SimulatedQueue, pod_set: PodSet, group: Group, flavor: str
) -> FlavorObstacle | None:
    """Why a flavor does not match the pods of a pod set."""
    found = state.mismatch(flavor, pod_set)
    if found is not None:
        kind = ObstacleKind.MISSING if found.missing else ObstacleKind.AFFINITY
        kind = kind if found.taint is None else ObstacleKind.TAINT
        return FlavorObstacle(kind, pod_set.name, flavor, taint=found.taint)
    if topology_refusal(state, queue, pod_set, group, flavor):
        return FlavorObstacle(ObstacleKind.TOPOLOGY_REFUSED, pod_set.name, flavor)
    return None


def _shortage(
    state: QueueState, queue: SimulatedQueue, pair: int, pod_set: str, asked: int
) -> Iterator[FlavorObstacle]:
    node = queue.node
    free, most = max(0, node.available(pair)), node.potential[pair]
    if asked <= free:
        return
    flavor, resource = state.pairs[pair]
    above = asked > most
    yield FlavorObstacle(
        ObstacleKind.ABOVE_MAXIMUM if above else ObstacleKind.NO_FREE_QUOTA,
        pod_set,
        flavor,
        resource,
        asked,
        free,
        node.nominal[pair],
        node.usage[pair],
        most,
        _idle(queue, pair),
        tuple(_holders(state, queue, pair)),
        limits=(*borrowing_limits(node, pair, asked), *lending_limits(node, pair)),
    )


def _idle(queue: SimulatedQueue, pair: int) -> int:
    """What the nodes beside the path to the root have free and do not lend."""
    path = {queue.node, *queue.node.ancestors()}
    found = 0
    for cohort in queue.node.ancestors():
        for child in cohort.children:
            if child not in path:
                found += child.local_available(pair)
    return found


def _holders(state: QueueState, queue: SimulatedQueue, pair: int) -> Iterator[QuotaHolder]:
    """The queues of the tree that use a pair: those that borrow the most first, then the largest."""
    found = []
    for node in queue.node.root().queues() if queue.node.parent else (queue.node,):
        used = node.usage[pair]
        if used > 0:
            found.append((max(0, used - node.subtree[pair]), used, node))
    for borrowed, used, node in sorted(found, key=lambda it: (-it[0], -it[1], it[2].name))[:_NAMED]:
        yield QuotaHolder(node.name, used, borrowed, _largest(state.of_node[node], pair))


def _largest(queue: SimulatedQueue, pair: int) -> tuple[str, ...]:
    """The workloads of a queue that use the most of a pair."""
    found = [
        (sum(amount for i, amount in it.admission.usage if i == pair), it.name)
        for it in queue.workloads.values()
        if it.admission is not None and pair in it.admission.pairs
    ]
    return tuple(name for _, name in sorted(found, key=lambda it: (-it[0], it[1]))[:_NAMED])
