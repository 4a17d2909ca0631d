"""What a simulation found: per job, per team and per pool.

Times and durations are seconds. GPUs are accelerators of any kind, in whole units of their resource.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from math import inf
from statistics import median

from msgspec import Struct, field

from policygen.simulate.why.causes import Cause

POD_PRIORITY = "PodPriority"
"""The rule of preemptions by kube-scheduler."""
ALL_TEAMS = "all teams"
"""In place of the name of a team. No team has this name, because it contains a space."""


class JobState(Enum):
    """What a job does when the simulation ends."""

    ENDED = "ended"
    RUNNING = "running"
    WAITING = "waiting"
    NEVER = "never-starts"
    """It waits for ever, or begins again and again."""


class JobPreemption(Struct, frozen=True):
    """A preemption of a job."""

    at: float
    by: str
    """The job that preempted it."""
    rule: str
    """The reason in Kueue's condition, `preempt` or `reclaim` of Volcano, or POD_PRIORITY."""


class JobResult(Struct, frozen=True, eq=False):
    """What became of a job."""

    name: str
    """Namespace and name of the object that the user created."""
    kind: str
    team: str
    queue: str
    """The ClusterQueue; empty: Kueue does not manage the job."""
    submitted: float
    duration: float | None
    """How long it had to run; None: until the simulation ended."""
    gpus: int
    """What all its pods request. After a partial admission, fewer pods run."""
    admitted: float | None
    """When Kueue admitted it for the first time; None: never, or Kueue does not manage it."""
    started: float | None
    """When all its pods ran for the first time; of a gang of Volcano, enough of them."""
    ended: float | None
    waited: float
    """How long it was submitted, and not all its pods ran; of a gang of Volcano, too few of them."""
    ran: float
    """How long its pods ran, also without effect; from the start of the simulation on."""
    running: bool
    """Whether its pods ran when the simulation ended."""
    unit: str = "GPU"
    """What one of its `gpus` is: `GPU`, `MIG instance`, `GPU share` or `accelerator`."""
    model: str = ""
    """The model of a spec that it runs; empty: it names none."""
    pods: int = 1
    """All that it requests."""
    refused: int = 0
    """The most pods that it ran without, because a ResourceQuota never allows all of them."""
    pod_starts: tuple[tuple[float, int], ...] = ()
    """When its pods started since it last began, and how many: fewer than all after a partial admission.

    Pods of a gang of Volcano can start later than the others.
    """
    gpu_seconds: float = 0.0
    """While its pods ran, times the GPUs of these pods."""
    lost_gpu_seconds: float = 0.0
    """The part of it that had to begin again, also what ran before the start of the simulation."""
    flavors: tuple[str, ...] = ()
    """Of its last admission, without repetitions."""
    borrowed: Mapping[str, int] = field(default_factory=dict)
    """GPUs above the guarantee of its queue when it was admitted, by flavor."""
    nodes: Mapping[str, int] = field(default_factory=dict)
    """Its pods by node, at the end of the simulation or when it last ran."""
    domains: Mapping[str, int] = field(default_factory=dict)
    """Its pods by the domain in which Kueue placed them, above that of a node: `block-1/rack-2`."""
    preempted: int = 0
    """How often it was preempted; it begins again each time."""
    evicted: int = 0
    """How often it was evicted for another reason, such as pods that were not ready in time."""
    evicted_for: str = ""
    """The last such reason, as Kueue names it."""
    preemptions: tuple[JobPreemption, ...] = ()
    """Those that Kueue, kube-scheduler or Volcano decided; of its pods, a preemption can leave some."""
    preempts: tuple[str, ...] = ()
    """The jobs that it preempted, without repetitions."""
    lost: float = 0.0
    """How long it ran without effect, because it was preempted."""
    reason: str = ""
    """Why it waits at the end: the reason of the scheduler; empty: it does not wait."""
    message: str = ""
    """The scheduler's message about it."""
    cause: Cause | None = None
    """Why it waits at the end; None: it does not wait."""
    never: bool = False
    """Whether it never starts, or never again."""
    either: bool = False
    """Whether the real scheduler could decide differently, since it breaks a tie at random."""

    @property
    def state(self) -> JobState:
        """What it does at the end."""
        if self.ended is not None:
            return JobState.ENDED
        if self.running:
            return JobState.RUNNING
        return JobState.NEVER if self.never else JobState.WAITING

    @property
    def pods_run(self) -> int:
        """How many of its pods have run since it last began."""
        return sum(count for _, count in self.pod_starts)

    @property
    def preempted_by(self) -> tuple[str, ...]:
        """The jobs that preempted it, without repetitions."""
        return tuple(dict.fromkeys(it.by for it in self.preemptions))

    @property
    def wait(self) -> float:
        """How long it waited; infinite if it never starts."""
        return inf if self.state is JobState.NEVER else self.waited


class TeamUse(Struct, frozen=True):
    """What a team used of the GPUs of a pool."""

    pool: str
    guarantee: int
    """The nominal quotas of its queues; of others, that of the spec, or else what queues of Volcano deserve."""
    limit: int
    """The most that its queues can use at once, after the limits of cohorts and queues above them."""
    gpu_seconds: float
    """While its jobs held quota, or nodes."""
    most: int
    """The most GPUs at once."""
    resource: str = ""
    """The resource of the accelerators: a pool of MIG instances has several."""


class TeamResult(Struct, frozen=True):
    """What became of the jobs of a team."""

    name: str
    jobs: int
    started: int
    finished: int
    waiting_median: float
    """In seconds; infinite if half of its jobs or more never start."""
    waiting_p95: float
    preempted: int
    """How often its jobs had to begin again."""
    gpu_seconds: float
    """The time in which pods of its jobs ran, times their GPUs."""
    lost_gpu_seconds: float
    """The part of it without effect, because the jobs had to begin again."""
    uses: tuple[TeamUse, ...] = ()
    never: int = 0
    """How many of its jobs never start, or never again."""


class PoolResult(Struct, frozen=True):
    """How the GPUs of a pool were used."""

    name: str
    gpus: int
    jobs: int
    """Jobs that ran in it, or wait for it."""
    waiting_median: float
    """Of these jobs."""
    waiting_p95: float
    used_mean: float
    """The mean number of GPUs in use."""
    used_most: int
    stranded: Mapping[str, float] = field(default_factory=dict)
    """GPU seconds in which GPUs were free, by cause. They add up to all in which GPUs were free."""
    unit: str = "GPU"
    """What one of its `gpus` is: `GPU`, `MIG instance`, `GPU share` or `accelerator`."""
    most_nodes: int | None = None
    """The most nodes that existed at once; None: no autoscaler adds nodes to it."""


class Unmodelled(Struct, frozen=True, order=True):
    """A feature of the input that the simulation does not know."""

    feature: str
    workloads: int
    """How many jobs it can affect."""


class StarvingJob(Struct, frozen=True):
    """A job that still waits at the end because of jobs that were submitted later."""

    name: str
    later: int
    """How many jobs that were submitted later started."""
    starts: float
    """When it starts without these jobs."""
    ends: float
    """When it ends without them."""


class SimulationResult(Struct, frozen=True, eq=False):
    """What a simulation found."""

    jobs: tuple[JobResult, ...]
    """In the order in which they arrived."""
    teams: tuple[TeamResult, ...]
    pools: tuple[PoolResult, ...]
    until: float
    """The time at which it ended."""
    groups: Mapping[str, tuple[TeamUse, ...]] = field(default_factory=dict)
    """What cohorts of Kueue and queues of Volcano use that are between teams and pools, by kind and name."""
    later: tuple[str, ...] = ()
    """The jobs that arrive after it."""
    unmodelled: tuple[Unmodelled, ...] = ()
    livelocks: tuple[tuple[str, ...], ...] = ()
    """Jobs that preempted each other again and again at one time."""
    starving: tuple[StarvingJob, ...] = ()
    """Of the jobs that wait the longest, those that jobs submitted later keep waiting."""
    examined: bool = True
    """Whether policygen looked for such jobs; False: too many jobs wait."""
    partial: bool = False
    """Whether it was interrupted."""
    unexplained: int = 0
    """The jobs whose causes were not computed, so that an interrupted simulation ends soon."""

    @property
    def total(self) -> TeamResult:
        """All teams together, without their uses of pools."""
        waits = [it.wait for it in self.jobs]
        return TeamResult(
            name=ALL_TEAMS,
            jobs=sum(it.jobs for it in self.teams),
            started=sum(it.started for it in self.teams),
            finished=sum(it.finished for it in self.teams),
            waiting_median=middle(waits),
            waiting_p95=p95(waits),
            preempted=sum(it.preempted for it in self.teams),
            gpu_seconds=sum(it.gpu_seconds for it in self.teams),
            lost_gpu_seconds=sum(it.lost_gpu_seconds for it in self.teams),
            never=sum(it.never for it in self.teams),
        )


def middle(values: Iterable[float]) -> float:
    """The median; 0 without values."""
    found = list(values)
    return median(found) if found else 0.0


def p95(values: Iterable[float]) -> float:
    """The smallest of the values that is at least as large as 95 % of them; 0 without values."""
    found = sorted(values)
    return found[-(-95 * len(found) // 100) - 1] if found else 0.0
