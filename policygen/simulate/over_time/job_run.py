"""A job in a simulation, and what became of it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from policygen.kubernetes.accelerators import gpus_of
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.kueue.workload import PodSetAdmission, QueuedWorkload
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.result import JobPreemption
from policygen.simulate.usage import WorkMeter

Shapes = Callable[[Arrival, PodBatch, Mapping[str, str], Mapping[str, str]], PodShape | None]
"""Makes the shape of pods with the flavors of their resources, and the labels of their topology domain.

None: they need no node that is known.
"""


@dataclass(slots=True, eq=False)
class JobRun:
    """A job, and what became of it until now."""

    arrival: Arrival
    index: int = 0
    """In the order of arrivals."""
    admitted: float | None = None
    """When it was admitted for the first time, or may create its pods without Kueue."""
    started: float | None = None
    """When all its pods ran for the first time."""
    ended: float | None = None
    waited: float = 0.0
    """The time in which not all its pods ran, until it ended or the simulation did."""
    preempted: int = 0
    evicted: int = 0
    """How often it was evicted for another reason, such as pods that were not ready in time."""
    evicted_for: str = ""
    """The last such reason."""
    preemptions: list[JobPreemption] = field(default_factory=list)
    """Those of this job, in their order."""
    preempts: dict[str, None] = field(default_factory=dict)
    ran: float = 0.0
    """The time that all its pods ran, until they last ended."""
    lost: float = 0.0
    """The part of it without effect, because the job had to begin again."""
    work: WorkMeter = field(default_factory=WorkMeter)
    """The GPU seconds of its pods that run."""
    lasts: float | None = None
    """How long it runs with the pods that it has; None: until the simulation ends."""
    pod_starts: defaultdict[float, int] = field(default_factory=lambda: defaultdict(int))
    """How many of its pods started at which times, since it last began."""
    done: Counter[int] = field(default_factory=Counter)
    """How many of its pods have ended while others run or wait, by the index of the pods."""
    active: bool = False
    """Whether its pods exist."""
    running: bool = False
    """Whether all its pods run."""
    bound: list[tuple[PodShape, int]] = field(default_factory=list)
    """Its pods on nodes."""
    unbound: int = 0
    """Its pods that do not run."""
    short: int = 0
    """Its pods that a ResourceQuota never allows beside the others, so that it runs without them."""
    refused: int = 0
    """The value of `short` when it last started."""
    gated: dict[str, list[tuple[float, PodShape | None]]] = field(default_factory=dict)
    """Those that scheduling gates hold, by their batch, with the time at which the gates are removed."""
    last_nodes: dict[int, int] = field(default_factory=dict)
    """The number of its pods by node, when it last ran."""
    created: list[tuple[PodSpec, int]] = field(default_factory=list)
    """Its pods that ResourceQuotas count, by their spec."""
    ahead: int = 0
    """How many of these existed from the start, and are not needed yet."""
    rejected: list[PodShape] = field(default_factory=list)
    """Its pods that name a node which rejects them."""
    failed: bool = False
    """Whether its controller gave up."""
    checked: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    """How many outcomes each of its admission checks had."""
    reason: str = ""
    message: str = ""
    either: bool = False
    """Where the schedulers leave it to chance, it may as well come out otherwise."""
    since: float = 0.0
    """When it began to wait, or to run."""
    round: int = 0
    """Grows when its pods end, so that events about earlier pods are known to be old."""
    workload: QueuedWorkload | None = field(init=False)
    """What Kueue knows of it."""

    def __post_init__(self) -> None:
        self.workload = self.arrival.workload

    @property
    def has_arrived(self) -> bool:
        """Whether it was submitted, and has not ended or failed."""
        return self.ended is None and self.round > 0 and not self.failed

    def starts(self, now: float, pods: int, gpus: int) -> None:
        """Its pods run, or enough of them; so many more than before, and with so many GPUs."""
        self.running = True
        if self.started is None:
            self.started = now
        self.waited += now - self.since
        self.since = now
        self.pod_starts[now] += pods
        self.refused = self.short
        self.work.change(now, gpus)
        if self.bound:
            nodes: dict[int, int] = {}
            for _, node in self.bound:
                nodes[node] = nodes.get(node, 0) + 1
            if self.done:
                nodes = Counter(self.last_nodes) + Counter(nodes)
            self.last_nodes = nodes

    def stops(self, now: float, *, preempted: bool = True) -> None:
        """It has to begin again, because it is preempted, or for another reason."""
        self.preempted += preempted
        self.evicted += not preempted
        if self.running:
            self.lost += now - self.since
            self.work.begin_again(now)
        self.pod_starts.clear()
        self.leaves(now)

    def leaves(self, now: float) -> None:
        """Not all its pods run any more."""
        if self.running:
            self.ran += now - max(self.since, 0.0)
            self.since = now
            self.work.change(now, 0)
        self.running = False

    @property
    def runs_already(self) -> bool:
        """Whether it was admitted, or had nodes, before the start."""
        workload = self.arrival.workload
        return (workload is not None and workload.admission is not None) or any(self.arrival.nodes)

    @property
    def size(self) -> tuple[int, int]:
        """The number of pods that it runs with, and their GPUs: fewer after a partial admission."""
        workload = self.workload
        if workload is None or workload.admission is None:
            pods = self.arrival.pods
            each = max((gpus_of(it.spec.requests) for it in pods), default=0)
            return (
                sum(it.count for it in pods) - self.short,
                sum(it.count * gpus_of(it.spec.requests) for it in pods) - self.short * each,
            )
        requests = {it.name: it.requests for it in workload.pod_sets}
        sets = workload.admission.pod_sets
        return (
            sum(it.count for it in sets),
            sum(it.count * gpus_of(dict(requests[it.name])) for it in sets),
        )

    def admitted_set(self, pod_set: str) -> PodSetAdmission | None:
        """What Kueue admitted of a pod set, with fewer pods than requested after a partial admission."""
        admission = self.workload.admission if self.workload is not None else None
        for it in admission.pod_sets if admission is not None else ():
            if it.name == pod_set:
                return it
        return None

    def flavors(self, pod_set: str) -> Mapping[str, str]:
        """The flavors of a pod set by resource; empty without Kueue."""
        found = self.admitted_set(pod_set)
        return found.flavors if found is not None else {}
