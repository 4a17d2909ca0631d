"""One session of Volcano's scheduler: what its plugins decide together, and what it changes.

Source: pkg/scheduler/framework/{session,session_plugins,statement}.go of Volcano 1.14.1.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from policygen.simulate.volcano.capacity import CapacityPlugin
from policygen.simulate.volcano.choices import Choices
from policygen.simulate.volcano.gang import ConformancePlugin, DrfPlugin, GangPlugin, PriorityPlugin
from policygen.simulate.volcano.job import HOLDING, FitErrors, TaskStatus, VolcanoJob, VolcanoTask
from policygen.simulate.volcano.kubernetes_view import KubernetesView, Refusal
from policygen.simulate.volcano.overcommit import FACTOR, OvercommitPlugin, overcommit_factor
from policygen.simulate.volcano.plugin import FLAGS, SessionPlugin
from policygen.simulate.volcano.proportion import ProportionPlugin
from policygen.simulate.volcano.scores import NodeScores
from policygen.simulate.volcano.settings import SchedulerSettings, TierPlugin
from policygen.simulate.volcano.state import VolcanoQueue, VolcanoState


class EvictionReason(Enum):
    """The action that evicts a task."""

    PREEMPT = "preempt"
    """For a task of the same queue."""
    RECLAIM = "reclaim"
    """For a task of another queue."""


@dataclass(frozen=True, slots=True)
class PodEviction:
    """A task that must leave."""

    victim: VolcanoTask
    preemptor: VolcanoTask
    reason: EvictionReason


class _Operation(Enum):
    ALLOCATE = "allocate"
    PIPELINE = "pipeline"
    EVICT = "evict"


class Session:
    """A session. Its changes to tasks stay until it ends."""

    def __init__(
        self,
        state: VolcanoState,
        settings: SchedulerSettings,
        view: KubernetesView,
        choices: Choices,
    ) -> None:
        self.nodes = state.nodes
        self.queues = state.queues
        self.settings = settings
        self.choices = choices
        self.jobs = [it for it in state.jobs.values() if it.queue in state.queues]
        self.bound: list[VolcanoTask] = []
        self.evictions: list[PodEviction] = []
        self._view = view
        view.open(
            [
                (it.at, it.shape)
                for job in state.jobs.values()
                for it in job.by_status[TaskStatus.RELEASING].values()
            ]
        )
        for job in self.jobs:
            job.fit_errors.clear()
            for task in job.by_status[TaskStatus.PENDING].values():
                task.discarded, task.evicts = None, False
        self.plugins: dict[str, SessionPlugin] = {}
        total = state.nodes.total
        for entry in (it for tier in settings.tiers for it in tier):
            if (plugin := self._plugin(entry, total)) is not None:
                self.plugins[entry.name] = plugin
        self._points = {it: self._taking_part(it) for it in FLAGS}
        self._prepared: dict[VolcanoTask, bool] = {}
        """The tasks for which the plugin predicates has prepared its filters.

        The value is whether other pods kept the task off its nominated node at that time.
        """
        self._predicates = (found := settings.plugin("predicates")) is not None and found.on(
            "enablePredicate"
        )
        self.scores = NodeScores(state.nodes, settings, view)

    def _plugin(self, entry: TierPlugin, total: dict[str, float]) -> SessionPlugin | None:
        match entry.name:
            case "gang":
                return GangPlugin()
            case "priority":
                return PriorityPlugin()
            case "conformance":
                return ConformancePlugin()
            case "drf":
                return DrfPlugin(self.jobs, total)
            case "overcommit":
                factor = overcommit_factor(entry.arguments.get(FACTOR))
                return OvercommitPlugin(self.jobs, self.nodes, factor)
            case "capacity":
                return CapacityPlugin(
                    self.queues, self.jobs, total, hierarchy=entry.on("enableHierarchy")
                )
            case "proportion":
                return ProportionPlugin(self.queues, self.jobs, total, self.choices)
        return None

    def _taking_part(self, point: str) -> list[list[SessionPlugin]]:
        """The plugins that take part in something, by tier."""
        found = []
        for tier in self.settings.tiers:
            mine = []
            for entry in tier:
                plugin = self.plugins.get(entry.name)
                if plugin is None or point in plugin.absent:
                    continue
                overridden = getattr(type(plugin), point) is not getattr(SessionPlugin, point)
                if overridden and (not FLAGS[point] or entry.on(FLAGS[point])):
                    mine.append(plugin)
            if mine:
                found.append(mine)
        return found

    def queue_less(self, one: VolcanoQueue, other: VolcanoQueue) -> bool:
        """Whether a queue comes before another one."""
        for plugin in (it for tier in self._points["queue_order"] for it in tier):
            if order := plugin.queue_order(one, other):
                return order < 0
        mine, theirs = math.floor(one.created), math.floor(other.created)
        return (mine, one.name) < (theirs, other.name)

    def job_less(self, one: VolcanoJob, other: VolcanoJob) -> bool:
        """Whether a job comes before another one."""
        for plugin in (it for tier in self._points["job_order"] for it in tier):
            if order := plugin.job_order(one, other):
                return order < 0
        mine, theirs = math.floor(one.created), math.floor(other.created)
        return (mine, one.group) < (theirs, other.group)

    def task_less(self, one: VolcanoTask, other: VolcanoTask) -> bool:
        """Whether a task comes before another one."""
        for plugin in (it for tier in self._points["task_order"] for it in tier):
            if order := plugin.task_order(one, other):
                return order < 0
        if one.index is not None and other.index is not None and one.index != other.index:
            return one.index < other.index
        mine, theirs = math.floor(one.created), math.floor(other.created)
        return (mine, one.uid) < (theirs, other.uid)

    def victim_less(self, one: VolcanoTask, other: VolcanoTask, preemptor: VolcanoTask) -> bool:
        """Whether a task is evicted before another one."""
        if one.job is other.job:
            return not self.task_less(one, other)
        if one.job.queue == other.job.queue:
            return not self.job_less(one.job, other.job)
        mine, theirs = self.queues[one.job.queue], self.queues[other.job.queue]
        third = self.queues[preemptor.job.queue]
        for plugin in (it for tier in self._points["victim_queue_order"] for it in tier):
            if order := plugin.victim_queue_order(mine, theirs, third):
                return order < 0
        return not self.queue_less(mine, theirs)

    def job_refusal(self, job: VolcanoJob) -> str:
        """Why a job cannot be scheduled at all; empty: it can."""
        plugins = (it for tier in self._points["job_refusal"] for it in tier)
        return next(filter(None, (it.job_refusal(job) for it in plugins)), "")

    def job_ready(self, job: VolcanoJob) -> bool:
        """Whether the nodes of its tasks are final."""
        return all(it.job_ready(job) for tier in self._points["job_ready"] for it in tier)

    def job_pipelined(self, job: VolcanoJob) -> bool:
        """Whether it starts as soon as other pods leave. The first tier with a plugin decides."""
        tiers = self._points["job_pipelined"]
        return not tiers or all(it.job_pipelined(job) for it in tiers[0])

    def job_starving(self, job: VolcanoJob) -> bool:
        """Whether pods may be evicted for it. The first tier with a plugin decides."""
        tiers = self._points["job_starving"]
        return bool(tiers) and all(it.job_starving(job) for it in tiers[0])

    def enqueue_refusal(self, job: VolcanoJob) -> str:
        """Why a job is not enqueued; empty: it is. The first tier with a vote decides."""
        for tier in self._points["enqueue_refusal"]:
            votes = False
            for it in tier:
                found = it.enqueue_refusal(job)
                if found:
                    return found
                votes |= found is not None
            if votes:
                break
        return ""

    def enqueued(self, job: VolcanoJob) -> None:
        """A job was enqueued."""
        for plugin in (it for tier in self._points["enqueued"] for it in tier):
            plugin.enqueued(job)

    def overused(self, queue: VolcanoQueue) -> bool:
        """Whether a queue gets no more in this session."""
        return any(it.overused(queue) for tier in self._points["overused"] for it in tier)

    def preemptive(self, queue: VolcanoQueue, task: VolcanoTask) -> bool:
        """Whether a queue may reclaim resources for a task."""
        return all(it.preemptive(queue, task) for tier in self._points["preemptive"] for it in tier)

    def allocatable(self, queue: VolcanoQueue, task: VolcanoTask) -> bool:
        """Whether a queue may use what a task requests."""
        return all(
            it.allocatable(queue, task) for tier in self._points["allocatable"] for it in tier
        )

    def preemptable(
        self, preemptor: VolcanoTask, tasks: Sequence[VolcanoTask]
    ) -> list[VolcanoTask]:
        """The tasks that a task of the same queue may evict."""
        return self._victims("preemptable", preemptor, tasks)

    def reclaimable(
        self, reclaimer: VolcanoTask, tasks: Sequence[VolcanoTask]
    ) -> list[VolcanoTask]:
        """The tasks that a task of another queue may evict."""
        return self._victims("reclaimable", reclaimer, tasks)

    def _victims(
        self, point: str, preemptor: VolcanoTask, tasks: Sequence[VolcanoTask]
    ) -> list[VolcanoTask]:
        """The tasks that all plugins of a tier choose; the first tier that chooses any decides.

        If the plugins before have no task in common, the next plugin of the tier decides anew.
        """
        for tier in self._points[point]:
            victims: list[VolcanoTask] = []
            for it in tier:
                found: list[VolcanoTask] = getattr(it, point)(preemptor, tasks)
                if not found:
                    victims = []
                    break
                victims = [one for one in victims if one in found] if victims else found
            if victims:
                return victims
        return []

    def refusals(self, task: VolcanoTask, among: list[int]) -> dict[int, Refusal]:
        """Which of the nodes do not take a task, apart from their resources, and why."""
        return self._view.refusals(task.shape, among) if self._predicates else {}

    def prepare(self, task: VolcanoTask) -> None:
        """Prepare the filters of the plugin predicates for a task, as its nodes are now."""
        at = task.nominated
        self._prepared[task] = at is not None and self._view.refused_by_pods(task.shape, at)

    def fits_nominated(self, task: VolcanoTask) -> bool:
        """Whether the node that was freed for a task takes it, so that it may not preempt again.

        Filters that are not prepared for the task in this session fail, so then it may. Those that
        look at other pods use the pods of the time at which they were prepared.
        """
        at = task.nominated
        if at is None or not self._predicates:
            return at is not None
        return not (self._prepared.get(task, True) or self._view.refused_by_node(task.shape, at))

    def best(self, task: VolcanoTask, nodes: Sequence[int]) -> int:
        """The node with the highest score."""
        if len(nodes) == 1:
            return nodes[0]
        scores = self.scores.of(task, nodes)
        most = max(scores)
        return self.choices.node(
            task, [it for it, score in zip(nodes, scores, strict=True) if score == most]
        )

    def place(self, task: VolcanoTask, node: int, status: TaskStatus) -> None:
        """A task gets a node in this session."""
        task.job.change(task, status)
        task.node = node
        self.nodes.add(task)
        self._note(task, allocated=True)

    def take_back(self, task: VolcanoTask) -> None:
        """A task gives its node up."""
        self.nodes.remove(task)
        task.job.change(task, TaskStatus.PENDING)
        self._note(task, allocated=False)
        task.node = None

    def evict(self, task: VolcanoTask) -> None:
        """A task is to leave its node."""
        self._turn(task, TaskStatus.RELEASING)
        self._note(task, allocated=False)

    def keep(self, task: VolcanoTask) -> None:
        """A task stays after all."""
        self._turn(task, TaskStatus.RUNNING)
        self._note(task, allocated=True)

    def _turn(self, task: VolcanoTask, status: TaskStatus) -> None:
        self.nodes.remove(task)
        task.job.change(task, status)
        self.nodes.add(task)

    def _note(self, task: VolcanoTask, *, allocated: bool) -> None:
        self.nodes.versions[task.at] += 1
        if allocated:
            self.nodes.table.add(task.at, task.shape)
            for it in self.plugins.values():
                it.allocated(task)
        else:
            self.nodes.table.remove(task.at, task.shape)
            for it in self.plugins.values():
                it.deallocated(task)

    def bind(self, task: VolcanoTask) -> None:
        """The node of a task is final."""
        task.job.change(task, TaskStatus.BINDING)
        self.bound.append(task)

    def close(self) -> None:
        """Undo what is not final, and note phases and conditions."""
        for job in self.jobs:
            gang = "gang" in self.plugins and bool(job.tasks)
            if gang:
                self._condition(job)
            job.phase = job.next_phase(unschedulable=gang and not job.ready)
        for job in self.jobs:
            for status in (TaskStatus.PENDING, TaskStatus.ALLOCATED, TaskStatus.PIPELINED):
                for task in [*job.by_status[status].values()]:
                    before, node, evicts = task.last
                    if before is TaskStatus.PIPELINED and evicts:
                        task.nominated = node
                    if status is not TaskStatus.PENDING:
                        self._leave(task)
        for it in self.evictions:  # until they are gone, the plugins of Kubernetes see them
            self.nodes.table.add(it.victim.at, it.victim.shape)
            self.nodes.versions[it.victim.at] += 1

    def _leave(self, task: VolcanoTask) -> None:
        self.nodes.remove(task)
        self.nodes.table.remove(task.at, task.shape)
        task.job.change(task, TaskStatus.PENDING)
        task.node = None

    def _condition(self, job: VolcanoJob) -> None:
        """The condition that the plugin gang writes."""
        if job.ready:
            job.reason = job.message = ""
            return
        if job.pending and job.message:
            return  # why it is not enqueued says more
        pending = job.by_status[TaskStatus.PENDING].values()
        placed = sum(it.last[0] in HOLDING for it in pending) + job.ready_count
        job.reason = "NotEnoughResources"
        job.message = (
            f"{job.min_available - placed}/{len(job.tasks)} tasks in gang unschedulable: "
            f"{job.fit_error}"
        )


class Statement:
    """Changes that are made final together, or undone."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._operations: list[tuple[_Operation, VolcanoTask, PodEviction | None]] = []

    def allocate(self, task: VolcanoTask, node: int) -> None:
        """A node has room for a task."""
        self._session.place(task, node, TaskStatus.ALLOCATED)
        self._operations.append((_Operation.ALLOCATE, task, None))

    def pipeline(self, task: VolcanoTask, node: int, *, evicts: bool) -> None:
        """A node will have room for a task."""
        self._session.place(task, node, TaskStatus.PIPELINED)
        task.evicts = evicts
        self._operations.append((_Operation.PIPELINE, task, None))

    def evict(self, eviction: PodEviction) -> None:
        """A task is to leave."""
        self._session.evict(eviction.victim)
        self._operations.append((_Operation.EVICT, eviction.victim, eviction))

    def commit(self) -> None:
        """Make the changes final."""
        for what, task, eviction in self._operations:
            task.discarded = None
            if what is _Operation.ALLOCATE:
                self._session.bind(task)
            elif eviction is not None:
                self._session.evictions.append(eviction)
        self._operations.clear()

    def discard(self) -> None:
        """Undo the changes."""
        for what, task, _ in reversed(self._operations):
            task.discarded = task.status, task.node, task.evicts
            if what is _Operation.EVICT:
                self._session.keep(task)
            else:
                self._session.take_back(task)
        self._operations.clear()


class Predicate:
    """Which nodes take tasks; nodes that refused a pod of a task of the job are not asked again.

    Source: pkg/scheduler/util/predicate_helper.go.
    """

    def __init__(self, session: Session, *, evicting: bool, caches: bool) -> None:
        self._session = session
        self._evicting = evicting
        """Whether only refusals count that evictions do not change."""
        self._caches = caches
        self._refused: dict[tuple[VolcanoJob, str], dict[int, Refusal | None]] = {}

    def nodes(self, task: VolcanoTask, among: Iterable[int]) -> tuple[list[int], "_Refusals"]:
        """The nodes that take a task, and the refusals of the others."""
        session = self._session
        refused: dict[int, Refusal | None] = {}
        if task.role and self._caches:
            refused = self._refused.setdefault((task.job, task.role), refused)
        asked = list(among)
        tried = [it for it in asked if it not in refused]
        found = tried
        if not self._evicting:
            found = session.nodes.with_room(session.nodes.future, task.requests, tried)
            for it in set(tried).difference(found):
                refused[it] = None
        for node, why in session.refusals(task, found).items():
            if why[1] or not self._evicting:
                refused[node] = why
        return [it for it in found if it not in refused], _Refusals(session, task, refused, asked)


class _Refusals:
    """Why nodes refuse a task."""

    def __init__(
        self,
        session: Session,
        task: VolcanoTask,
        refused: dict[int, Refusal | None],
        asked: list[int],
    ) -> None:
        self._session = session
        self._task = task
        self._refused = refused
        self._asked = asked

    @property
    def errors(self) -> FitErrors:
        """By node. Of the resources that a node has too little of, Volcano names the first."""
        found = FitErrors()
        for it in self._asked:
            if it in self._refused:
                short = self._session.nodes.shortages(self._task.requests, it)
                missing = ((f"Insufficient {short[0] if short else ''}".strip(),), False)
                found.nodes[it] = self._refused[it] or missing
        return found
