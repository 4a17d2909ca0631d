"""Why Volcano does not start a gang: its queue, the limits of queues, the minimum of the gang, or the nodes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.suggest import Names
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.scheduler_reasons import INSUFFICIENT
from policygen.simulate.arrival import Arrival, GangSettings
from policygen.simulate.kueue.amounts import UNLIMITED
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.scene import Scene
from policygen.simulate.scene_schedulers import kube_scheduler, shapes, volcano_scheduler
from policygen.simulate.timeline import Timeline
from policygen.simulate.volcano.amounts import (
    CPU,
    LEAST,
    MEMORY,
    PODS,
    Amounts,
    add,
    empty,
    excesses,
)
from policygen.simulate.volcano.build import DEFAULT_QUEUE, volcano_queues
from policygen.simulate.volcano.capacity import CapacityPlugin
from policygen.simulate.volcano.gangs import gang_job
from policygen.simulate.volcano.job import Phase, TaskStatus, VolcanoJob, VolcanoTask
from policygen.simulate.volcano.overcommit import OvercommitPlugin
from policygen.simulate.volcano.proportion import ProportionPlugin
from policygen.simulate.volcano.queue_shares import QueueShare
from policygen.simulate.volcano.scheduler import VolcanoScheduler
from policygen.simulate.volcano.session import Session
from policygen.simulate.why.causes import (
    Cause,
    CauseKind,
    FlavorObstacle,
    NearestNode,
    NeverPlaced,
    NodeReason,
    ObstacleKind,
    QuotaHolder,
)
from policygen.simulate.why.queue_field import queue_field
from policygen.simulate.why.team_queues import team_queues

_HOLDERS = 3
_OVERUSED = "resource in cluster is overused"
"""The beginning of the message of the plugin overcommit."""


class _Placed(Struct, eq=False):
    """A trial to place the pods that a gang needs."""

    tasks: list[VolcanoTask]
    """Those that got a node."""
    failed: VolcanoTask | None = None
    """The first one that no node takes; None: all got one."""
    refusals: Mapping[int, tuple[str, ...]] = {}
    """Why each node does not take it."""


class GangCauses:
    """Explains jobs of Volcano in the present state of a timeline."""

    def __init__(self, scene: Scene, timeline: Timeline) -> None:
        self._scene = scene
        self._timeline = timeline
        self._known = {it.name for it in volcano_queues(scene.cluster)}
        self._session: Session | None = None
        self._empty: VolcanoScheduler | None = None
        self._never: dict[object, NeverPlaced | None] = {}

    def of(self, job: JobRun) -> Cause:
        """Why a job does not start."""
        arrival, gang, volcano = job.arrival, job.arrival.gang, self._timeline.volcano
        name = gang.queue if gang is not None else ""
        message = job.message or job.reason
        known = Cause(CauseKind.VOLCANO, f"Queue {name}", name, message, queue_kind="Queue")
        if gang is not None and name not in self._known:
            known = self._missing(arrival, known)
            return known if volcano is None else replace(known, never=self._lasting(arrival, gang))
        if gang is None or volcano is None:
            return known
        for names in self._timeline.livelocks:
            if arrival.name in names:
                others = tuple(it for it in names if it != arrival.name)
                return replace(known, kind=CauseKind.LIVELOCK, names=others)
        if (made := volcano.state.jobs.get(arrival.name)) is not None:
            known = self._decided(volcano, made, known)
        return replace(known, never=self._lasting(arrival, gang))

    def _missing(self, arrival: Arrival, known: Cause) -> Cause:
        """Its queue does not exist: the queues that it can use instead, the most similar one alone."""
        own = team_queues(self._scene, self._timeline.jobs, arrival)
        named = queue_field(self._scene.cluster, arrival)
        return replace(
            known,
            kind=CauseKind.VOLCANO_QUEUE_MISSING,
            names=tuple(Names(own).similar(known.queue, 1) or own),
            field="" if named is None else named.title,
        )

    def holders(self, job: JobRun) -> list[str]:
        """The jobs that hold what it needs on nodes, the largest first."""
        held: Counter[str] = Counter()
        wanted = {name for it in job.arrival.pods for name in it.spec.requests if is_one(name)}
        for other in self._timeline.jobs:
            if other is not job:
                for shape, _ in other.bound:
                    held[other.arrival.name] += sum(map(shape.amount, wanted)) if wanted else 1
        return [name for name, amount in held.most_common() if amount]

    def _decided(self, volcano: VolcanoScheduler, made: VolcanoJob, known: Cause) -> Cause:
        if self._session is None:
            self._session = volcano.look()
        session = self._session
        queue = volcano.state.queues[made.queue]
        plugin = session.plugins.get("capacity") or session.plugins.get("proportion")
        if isinstance(plugin, CapacityPlugin) and plugin.broken:
            return replace(known, kind=CauseKind.VOLCANO_TREE, message=plugin.broken)
        if not queue.open:
            return replace(known, kind=CauseKind.VOLCANO_QUEUE_CLOSED)
        if not made.unborn and session.job_refusal(made):
            pods = FlavorObstacle(
                ObstacleKind.ABOVE_MAXIMUM, "", "", PODS, made.min_available, made.valid_count
            )
            return replace(known, kind=CauseKind.GANG_INCOMPLETE, obstacles=(pods,))
        overcommit = session.plugins.get("overcommit")
        if isinstance(overcommit, OvercommitPlugin) and made.message.startswith(_OVERUSED):
            found = self._overused(made, overcommit, known)
            if found is not None:
                return found
        if isinstance(plugin, CapacityPlugin | ProportionPlugin):
            found = self._limited(session, made, plugin, known)
            if found is not None:
                return found
        return known if made.unborn else self._on_nodes(session, made, known)

    def _limited(
        self,
        session: Session,
        made: VolcanoJob,
        plugin: CapacityPlugin | ProportionPlugin,
        known: Cause,
    ) -> Cause | None:
        """Of the queue and those above it, the one whose limit leaves too little for the gang, and the least."""
        share = plugin.shares.get(made.queue)
        if share is None:
            return None
        asked = dict(made.minimum) if made.pending else _needed(made)
        total = session.nodes.total
        found: list[tuple[tuple[bool, bool, float], Cause]] = []
        for it in (share, *reversed(share.ancestors)):
            taken = dict(it.allocated)
            if made.pending:
                add(taken, it.inqueue)
                for name, amount in it.elastic.items():
                    taken[name] = taken.get(name, 0) - amount
            fixed = made.pending or isinstance(plugin, CapacityPlugin)
            limit = it.limit if fixed else it.deserved
            short = excesses(add(dict(taken), asked), limit, asked)
            if not short:
                continue
            name = min(short, key=lambda one: (not is_one(one), one))
            never = fixed and asked[name] > limit.get(name, 0)
            if not made.unborn and limit.get(name, 0) >= total.get(name, 0):
                continue  # the nodes have no more
            left = limit.get(name, 0) - taken.get(name, 0)
            kind = ObstacleKind.ABOVE_MAXIMUM if never else ObstacleKind.NO_FREE_QUOTA
            obstacle = FlavorObstacle(
                kind,
                "",
                "",
                name,
                _units(name, asked[name]),
                _units(name, max(left, 0)),
                _units(name, it.deserved.get(name, 0)),
                _units(name, max(taken.get(name, 0), 0)),
                _units(name, limit.get(name, 0)),
                holders=tuple(self._queues(name, it, made)),
            )
            kind_ = CauseKind.VOLCANO_ABOVE_LIMIT if never else CauseKind.VOLCANO_LIMIT
            cause = replace(known, kind=kind_, queue=it.queue.name, obstacles=(obstacle,))
            found.append(((not never, not is_one(name), left), cause))
        return min(found, key=lambda one: one[0])[1] if found else None

    def _queues(self, resource: str, share: QueueShare, made: VolcanoJob) -> Iterator[QuotaHolder]:
        """What uses the limit of a queue: its own jobs, or those of the queues below it."""
        below: dict[str, list[VolcanoJob]] = {}
        for it in self._jobs():
            below.setdefault(it.queue, []).append(it)
        for one in [share, *_below(share)]:
            jobs = [it for it in below.get(one.queue.name, ()) if it is not made]
            jobs = [it for it in jobs if it.allocated.get(resource, 0) >= LEAST]
            if not jobs:
                continue
            jobs.sort(key=lambda it: (-it.allocated[resource], it.name))
            used = one.allocated.get(resource, 0)
            borrowed = max(used - one.deserved.get(resource, 0), 0)
            names = tuple(it.name for it in jobs)
            used, borrowed = _units(resource, used), _units(resource, borrowed)
            yield QuotaHolder(one.queue.name, used, borrowed, names)

    def _overused(self, made: VolcanoJob, plugin: OvercommitPlugin, known: Cause) -> Cause | None:
        """So much is enqueued that nothing more is."""
        short = plugin.shortages(made)
        name = min(short, key=lambda one: (not is_one(one), one), default="")
        if not name:
            return None
        asked, most = made.minimum[name], plugin.most.get(name, 0)
        never = asked > most
        if never and not made.unborn:
            return None  # the nodes do not have so much either
        obstacle = FlavorObstacle(
            ObstacleKind.ABOVE_MAXIMUM if never else ObstacleKind.NO_FREE_QUOTA,
            "",
            "",
            name,
            _units(name, asked),
            _units(name, max(plugin.left(name), 0)),
            most=_units(name, most),
        )
        return replace(known, kind=CauseKind.VOLCANO_OVERCOMMIT, obstacles=(obstacle,))

    def _on_nodes(self, session: Session, made: VolcanoJob, known: Cause) -> Cause:
        """Nodes that have no room for all pods of the gang; otherwise the cause that is known."""
        trial = _placed(session, made)
        found = known
        if trial.failed is not None:
            counts = Counter(why for reasons in trial.refusals.values() for why in reasons)
            reasons = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
            found = replace(
                known,
                kind=CauseKind.NO_NODES,
                node_reasons=tuple(NodeReason(*it) for it in reasons),
                nearest=_nearest(session, trial, self._bound()),
                placed=made.ready_count,
                pods=made.min_available,
            )
        for task in reversed(trial.tasks):
            session.take_back(task)
        return found

    def _lasting(self, arrival: Arrival, gang: GangSettings) -> NeverPlaced | None:
        """Why empty nodes do not hold the gang; None: they do."""
        key = tuple((id(it.spec), it.count) for it in arrival.pods), gang.least
        if key not in self._never:
            self._never[key] = self._alone(arrival, gang)
        return self._never[key]

    def _alone(self, arrival: Arrival, gang: GangSettings) -> NeverPlaced | None:
        if self._empty is None:
            opened = tuple(replace(it, unschedulable=False) for it in self._scene.nodes)
            self._empty = volcano_scheduler(replace(self._scene, nodes=opened), None)
        if self._empty is None:
            return None
        make = shapes(self._scene, kube_scheduler(self._scene))
        gang = replace(gang, queue=DEFAULT_QUEUE)
        made = gang_job(arrival, gang, [make(arrival, it, {}, {}) for it in arrival.pods], 0.0)
        made.phase = Phase.INQUEUE
        self._empty.submit(made)
        self._empty.create(made)
        session = self._empty.look()
        trial, found = _placed(session, made), None
        if trial.failed is not None:
            alone = len(trial.refusals) < len(session.nodes.indexes) or bool(trial.tasks)
            nearest = None if alone else _nearest(session, trial, {})
            found = NeverPlaced(made.min_available, len(trial.tasks), alone, nearest)
        for task in reversed(trial.tasks):
            session.take_back(task)
        self._empty.finish(made)
        return found

    def _jobs(self) -> Sequence[VolcanoJob]:
        volcano = self._timeline.volcano
        return [*volcano.state.jobs.values()] if volcano is not None else []

    def _bound(self) -> Mapping[int, list[tuple[str, PodShape]]]:
        """The pods on each node, with the names of their jobs."""
        found: dict[int, list[tuple[str, PodShape]]] = {}
        for job in self._timeline.jobs:
            for shape, node in job.bound:
                found.setdefault(node, []).append((job.arrival.name, shape))
        return found


def _below(share: QueueShare) -> Iterator[QueueShare]:
    for it in share.children:
        yield it
        yield from _below(it)


def _needed(made: VolcanoJob) -> Amounts:
    """What the pods request that a gang still needs to start."""
    found = empty()
    pending = [*made.by_status[TaskStatus.PENDING].values()]
    for task in pending[: max(made.min_available - made.ready_count, 1)]:
        add(found, task.requests)
    return found


def _placed(session: Session, made: VolcanoJob) -> _Placed:
    """Place the pods that a gang needs, whatever its queue may use. The caller takes them back."""
    nodes, found = session.nodes, _Placed([])
    for task in [*made.by_status[TaskStatus.PENDING].values()]:
        if task.gated or (found.tasks and session.job_ready(made)):
            continue
        room = nodes.with_room(nodes.idle, task.requests, nodes.indexes)
        refused = session.refusals(task, list(nodes.indexes))
        fit = [it for it in room if it not in refused]
        if not fit:
            found.failed = task
            found.refusals = {
                it: refused[it][0] if it in refused else _short(session, task, it)
                for it in nodes.indexes
            }
            return found
        session.place(task, session.best(task, fit), TaskStatus.ALLOCATED)
        found.tasks.append(task)
    return found


def _short(session: Session, task: VolcanoTask, node: int) -> tuple[str, ...]:
    idle = session.nodes.idle
    wanted = task.requests.items()
    return tuple(f"{INSUFFICIENT}{name}" for name, it in wanted if it - idle[name][node] >= LEAST)


def _nearest(
    session: Session, trial: _Placed, bound: Mapping[int, list[tuple[str, PodShape]]]
) -> NearestNode | None:
    """Of the nodes that have only too little of something, the one with the smallest shortage."""
    task, idle = trial.failed, session.nodes.idle
    found: tuple[float, str, int, str] | None = None
    for node, reasons in trial.refusals.items():
        if task is None or not all(it.startswith(INSUFFICIENT) for it in reasons):
            continue
        names = [it.removeprefix(INSUFFICIENT) for it in reasons]
        share, name = max((1 - idle[it][node] / task.requests[it], it) for it in names)
        one = share, session.nodes.table.all[node].name, node, name
        found = one if found is None else min(found, one)
    if found is None or task is None:
        return None
    _, label, node, name = found
    holders = sorted(
        ((-shape.amount(name), owner) for owner, shape in bound.get(node, ()) if shape.amount(name))
    )
    owners = tuple(dict.fromkeys(owner for _, owner in holders))[:_HOLDERS]
    free = _units(name, max(idle[name][node], 0))
    return NearestNode(label, name, _units(name, task.requests[name]), free, owners)


def _units(resource: str, amount: float) -> int:
    """An amount of Volcano in Kueue's unit of the resource."""
    if amount >= UNLIMITED:
        return UNLIMITED
    return int(amount if resource in (CPU, MEMORY, PODS) else amount / 1000)
