"""Jobs of Volcano's scheduler, each a PodGroup, and their tasks, each a pod.

Source: pkg/scheduler/api/{job_info,types,helpers}.go of Volcano 1.14.1.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from policygen.simulate.placement.shape import PodShape
from policygen.simulate.volcano.amounts import Amounts, add, empty, is_empty, subtract


class TaskStatus(Enum):
    """The status of a task."""

    PENDING = "Pending"
    ALLOCATED = "Allocated"
    """It has a node in this session, until its gang is complete."""
    PIPELINED = "Pipelined"
    """It has a node in this session, as soon as other pods leave."""
    BINDING = "Binding"
    BOUND = "Bound"
    RUNNING = "Running"
    RELEASING = "Releasing"
    """It is evicted or deleted, and still holds its resources."""
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"

    __hash__ = object.__hash__  # that of Enum hashes the name, millions of times


HOLDING = (TaskStatus.ALLOCATED, TaskStatus.BINDING, TaskStatus.BOUND, TaskStatus.RUNNING)
"""What counts as allocated."""
_READY = (*HOLDING, TaskStatus.SUCCEEDED)
_PIPELINED = (*_READY, TaskStatus.PIPELINED)
_VALID = (*_PIPELINED, TaskStatus.PENDING)
_SCHEDULED = (TaskStatus.RUNNING, TaskStatus.BOUND, TaskStatus.FAILED, TaskStatus.SUCCEEDED)
_COMPLETED = (TaskStatus.FAILED, TaskStatus.SUCCEEDED)


class Phase(Enum):
    """The phase of a PodGroup."""

    PENDING = "Pending"
    INQUEUE = "Inqueue"
    RUNNING = "Running"
    UNKNOWN = "Unknown"
    COMPLETED = "Completed"


@dataclass(slots=True, eq=False)
class VolcanoTask:
    """A pod."""

    name: str
    """The namespace and name."""
    uid: str
    shape: PodShape
    requests: Amounts
    """With one of `pods`."""
    role: str = ""
    """Its task in the job."""
    priority: int = 0
    created: float = 0.0
    preemptable: bool = True
    preempts: bool = True
    """False: its class has the preemption policy Never."""
    protected: bool = False
    """Whether the plugin conformance keeps it: a pod of the system."""
    gated: bool = False
    status: TaskStatus = TaskStatus.PENDING
    node: int | None = None
    nominated: int | None = None
    """The node on which pods were evicted for it."""
    evicts: bool = False
    """Whether pods were evicted for it in this session."""
    discarded: tuple[TaskStatus, int | None, bool] | None = None
    """Its status, node and `evicts` before this session gave its node up."""
    index: int | None = None
    """Its number in its task."""
    batch: int = 0
    """The index of the pods of its job to which it belongs."""
    began: float | None = None
    """When it began to run with enough others of its job; None: it does not run."""
    best_effort: bool = field(init=False)
    """Whether it requests nothing."""
    job: "VolcanoJob" = field(init=False)

    def __post_init__(self) -> None:
        self.best_effort = is_empty(self.requests)
        parts = self.name.rpartition("/")[2].split("-")
        if len(parts) >= 3 and parts[-1].lstrip("+-").isdigit():
            self.index = int(parts[-1])

    @property
    def at(self) -> int:
        """Its node. Raises ValueError if it has none."""
        if self.node is None:
            raise ValueError(f"{self.name} has no node")
        return self.node

    @property
    def last(self) -> tuple[TaskStatus, int | None, bool]:
        """Its status, node and `evicts`, or those that this session gave up."""
        return self.discarded or (self.status, self.node, self.evicts)


class FitErrors:
    """Why no node takes a task."""

    def __init__(self, error: str = "") -> None:
        self.error = error
        self.nodes: dict[int, tuple[tuple[str, ...], bool]] = {}
        """The reasons by node, and whether no eviction can change them."""

    @property
    def hopeless(self) -> set[int]:
        """The nodes on which no eviction helps."""
        return {node for node, (_, lasting) in self.nodes.items() if lasting}

    @property
    def message(self) -> str:
        """In Volcano's words."""
        error = self.error or f"0/{len(self.nodes)} nodes are unavailable"
        if not self.nodes:
            return error
        reasons = Counter(it for why, _ in self.nodes.values() for it in why)
        return f"{error}: {_histogram(reasons)}."


def _histogram(reasons: Mapping[str, int]) -> str:
    return ", ".join(sorted(f"{count} {why}" for why, count in reasons.items()))


@dataclass(eq=False)
class VolcanoJob:
    """A PodGroup and its pods."""

    name: str
    """Unique: the namespace and name of the PodGroup, or of the object for which Volcano creates it."""
    queue: str
    min_available: int = 1
    role_minimums: Mapping[str, int] = field(default_factory=dict)
    """The least pods of each task (minTaskMember)."""
    min_resources: Amounts | None = None
    priority: int = 0
    created: float = 0.0
    phase: Phase = Phase.PENDING
    reason: str = ""
    """Of the condition that is true: NotEnoughResources, or Unschedulable if it is not enqueued, or empty."""
    message: str = ""
    tasks: dict[str, VolcanoTask] = field(default_factory=dict, init=False)
    by_status: dict[TaskStatus, dict[str, VolcanoTask]] = field(init=False)
    allocated: Amounts = field(default_factory=empty, init=False)
    fit_errors: dict[str, FitErrors] = field(default_factory=dict, init=False)
    """Those of this session, by task."""
    group: str = ""
    """The namespace and name of the PodGroup, by which equal jobs are ordered; empty: `name`."""
    unborn: list[VolcanoTask] = field(default_factory=list)
    """The pods that its controller creates after it is enqueued."""
    ready_count: int = field(default=0, init=False)
    """How many tasks have a node."""
    _free_count: int = field(default=0, init=False)
    """How many pending tasks request nothing."""

    def __post_init__(self) -> None:
        self.group = self.group or self.name
        self.by_status = {it: {} for it in TaskStatus}
        self._counts: Counter[tuple[str, TaskStatus, bool]] = Counter()
        self._gated: Amounts = empty()
        self._role_total = sum(self.role_minimums.values())

    def add(self, task: VolcanoTask) -> None:
        """A pod of the job."""
        task.job = self
        self.tasks[task.name] = task
        if task.gated:
            add(self._gated, task.requests)
        self._note(task, 1)

    def remove(self, task: VolcanoTask) -> None:
        """A pod that is gone."""
        del self.tasks[task.name]
        if task.gated:
            subtract(self._gated, task.requests)
        self._note(task, -1)

    def change(self, task: VolcanoTask, status: TaskStatus) -> None:
        """Change the status of a task."""
        self._note(task, -1)
        task.status = status
        self._note(task, 1)

    def _note(self, task: VolcanoTask, count: int) -> None:
        self._counts[task.role, task.status, task.best_effort] += count
        if count > 0:
            self.by_status[task.status][task.name] = task
        else:
            del self.by_status[task.status][task.name]
        if task.status in _READY:
            self.ready_count += count
        elif task.status is TaskStatus.PENDING:
            self._free_count += count * task.best_effort
        if task.status in HOLDING:
            (add if count > 0 else subtract)(self.allocated, task.requests)

    def count(self, *statuses: TaskStatus) -> int:
        """How many tasks have one of these statuses."""
        return sum(len(self.by_status[it]) for it in statuses)

    @property
    def waiting_count(self) -> int:
        """How many tasks wait for others to leave their node."""
        return self.count(TaskStatus.PIPELINED)

    @property
    def ready(self) -> bool:
        """Whether enough tasks have a node."""
        return self.ready_count + self._free_count >= self.min_available

    @property
    def pipelined(self) -> bool:
        """Whether enough tasks have a node or wait for one."""
        return self.waiting_count + self.ready_count + self._free_count >= self.min_available

    @property
    def starving(self) -> bool:
        """Whether too few tasks have a node or wait for one."""
        return self.waiting_count + self.ready_count < self.min_available

    @property
    def valid_count(self) -> int:
        """How many tasks can count for the gang."""
        return self.count(*_VALID)

    @property
    def pending(self) -> bool:
        """Whether it is not enqueued."""
        return self.phase is Phase.PENDING

    def _of_role(self, role: str, statuses: Iterable[TaskStatus]) -> int:
        return sum(self._counts[role, it, best] for it in statuses for best in (False, True))

    def _roles_have(self, statuses: Iterable[TaskStatus], *, free: bool) -> bool:
        """Whether each task has its minimum; `free`: pending pods that request nothing count too."""
        return self.min_available < self._role_total or all(
            self._of_role(role, statuses) + free * self._counts[role, TaskStatus.PENDING, True]
            >= least
            for role, least in self.role_minimums.items()
        )

    @property
    def roles_valid(self) -> bool:
        """Whether each task has enough pods."""
        return self._roles_have(_VALID, free=False)

    @property
    def roles_ready(self) -> bool:
        """Whether enough pods of each task have a node."""
        return self._roles_have(_READY, free=True)

    @property
    def roles_pipelined(self) -> bool:
        """Whether enough pods of each task have a node or wait for one."""
        return self._roles_have(_PIPELINED, free=True)

    @property
    def failed_roles(self) -> set[str]:
        """The tasks of which a pod found no node in this session."""
        return {self.tasks[it].role for it in self.fit_errors}

    @property
    def goes_on(self) -> bool:
        """Whether other tasks are tried after one found no node (NeedContinueAllocating)."""
        if self.min_available >= len(self.tasks):
            return False
        failed = self.failed_roles
        if self.min_available < self._role_total:
            left = sum(it.role not in failed for it in self.by_status[TaskStatus.PENDING].values())
            return self.ready_count + left >= self.min_available
        return all(
            self._of_role(role, _READY) + self._counts[role, TaskStatus.PENDING, True]
            >= self.role_minimums.get(role, 0)
            for role in failed
        )

    @property
    def minimum(self) -> Amounts:
        """Its minResources; empty if they are not set."""
        return self.min_resources or empty()

    def without_gated(self, amounts: Amounts) -> Amounts:
        """Amounts less those of pods with scheduling gates."""
        if is_empty(self._gated):
            return amounts
        return {name: max(it - self._gated.get(name, 0), 0) for name, it in amounts.items()}

    @property
    def reserved(self) -> Amounts:
        """What it holds in its queue for pods that have no node yet."""
        if self.phase is Phase.INQUEUE:
            return self.without_gated(self.minimum)
        if (
            self.phase is Phase.RUNNING
            and self.min_resources is not None
            and self.count(*HOLDING) >= self.min_available
        ):
            return self.without_gated(self._unallocated(self.min_resources))
        return empty()

    def _unallocated(self, minimum: Amounts) -> Amounts:
        """Of minResources, what is not allocated (GetInqueueResource).

        Volcano compares whole numbers of an extended resource with thousandths.
        """
        found = empty()
        for name, it in minimum.items():
            if name in found:
                found[name] = max(it - self.allocated[name], 0)
            elif "/" in name or name.startswith("hugepages-"):
                held = self.allocated.get(name)
                whole = it / 1000
                if held is None or whole > held:
                    found[name] = whole - (held or 0)
        return found

    def next_phase(self, *, unschedulable: bool) -> Phase:
        """The phase after a session (getPodGroupPhase)."""
        if self.by_status[TaskStatus.RUNNING] and unschedulable:
            return Phase.UNKNOWN
        scheduled = self.count(*_SCHEDULED)
        if scheduled >= self.min_available:
            return Phase.COMPLETED if scheduled == self.count(*_COMPLETED) else Phase.RUNNING
        return self.phase if self.phase is Phase.INQUEUE else Phase.PENDING

    @property
    def fit_error(self) -> str:
        """Why it is not ready, in Volcano's words."""
        counts = {it.value: len(found) for it, found in self.by_status.items() if found}
        counts["minAvailable"] = self.min_available
        found = f"pod group is {'ready' if self.ready else 'not ready'}, {_histogram(counts)}"
        reasons = Counter(map(_reason, self.by_status[TaskStatus.PENDING].values()))
        if reasons:
            found += f"; Pending: {_histogram(reasons)}"
        for name, errors in self.fit_errors.items():
            return f"{found}. Origin reason is {name.rpartition('/')[2]}: {errors.message}"
        return found


def _reason(task: VolcanoTask) -> str:
    status, _, _ = task.last
    if status is TaskStatus.ALLOCATED:
        return "Schedulable"
    if status in (TaskStatus.PIPELINED, TaskStatus.PENDING):
        return "Unschedulable"
    return str(status.value)
