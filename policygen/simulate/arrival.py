"""Jobs that arrive in a simulation.

Times are seconds from its start: in a snapshot from the time when it was taken, so earlier times are
negative.
"""

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct, field
from msgspec.structs import replace

from policygen.kubernetes.core import LabelSelector
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.kueue.workload import QueuedWorkload

MOST_PODS = 1_000_000
"""The most pods of a job that is simulated. Kubernetes supports 150,000 in a cluster."""
_OF_PODS = frozenset(
    {"Deployment", "LeaderWorkerSet", "Pod", "ReplicaSet", "ReplicationController", "Rollout", "StatefulSet"}
)  # fmt: skip


class PodBatch(Struct, frozen=True, eq=False):
    """Equal pods of a job.

    The flavors of Kueue add node selectors and tolerations, so their final shape is made when the job is
    admitted. Jobs whose pods are equal share a shape if they share `spec` and `labels`.
    """

    name: str
    """Of the pod set."""
    count: int
    spec: PodSpec
    """With the defaults of LimitRanges, and the overhead of its RuntimeClass."""
    labels: Mapping[str, str] = field(default_factory=dict)
    selector: LabelSelector | None = None
    """That of its ReplicaSet or StatefulSet, which spreads the pods over nodes; None: it has none."""
    gates: tuple[str, ...] = ()
    """Their scheduling gates, without those that Kueue removes."""


class GangTask(Struct, frozen=True, eq=False):
    """What Volcano knows of the pods of a batch, besides their spec."""

    role: str = ""
    """Their task in the job."""
    priority: int = 0
    preempts: bool = True
    """False: their PriorityClass has the preemption policy Never."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    completes: bool = False
    """Whether the job ends when all these pods have ended (TaskCompleted: CompleteJob)."""


class GangSettings(Struct, frozen=True, eq=False):
    """The PodGroup of a job that Volcano schedules."""

    queue: str
    tasks: tuple[GangTask, ...]
    """One for each batch of pods."""
    least: int = 1
    """How many pods start together (minMember)."""
    role_minimums: Mapping[str, int] = field(default_factory=dict)
    resources: Mapping[str, Fraction] | None = None
    """Its minResources."""
    priority: int = 0
    enqueued_first: bool = False
    """Whether its pods are created after it is enqueued."""
    restarts: bool = False
    """Whether all its pods begin again if one is evicted."""
    min_success: int | None = None
    """The job ends when so many pods have ended; None: when all have."""
    group: str = ""
    """The name of its PodGroup. With a dash at its end, a UID follows that is not known."""


class Arrival(Struct, frozen=True, eq=False):
    """A job that arrives, or that already runs."""

    name: str
    """Namespace and name of the object that the user created; its kind follows if jobs share the name."""
    kind: str
    team: str
    at: float
    duration: float | None
    """How long it must run with all its pods and without an interruption; None: until the simulation ends.

    In a job of Volcano, each pod runs so long.
    """
    workload: QueuedWorkload | None
    """None: Kueue does not manage it. With an admission, it holds quota from the start."""
    pods: tuple[PodBatch, ...]
    priority: int = 0
    """Of its pods, for kube-scheduler."""
    preempts: bool = True
    """False: the PriorityClass of its pods has the preemption policy Never."""
    nodes: tuple[str, ...] = ()
    """The nodes of pods that run from the start, in the order of `pods`; empty for a pod that has none.

    Of the pods after the last one with a node, there may be nothing.
    """
    left: float | None = None
    """How long a job that runs from the start still runs; None: as long as `duration`."""
    created: int = 0
    """How many of its pods exist from the start, with or without a node."""
    refusal: str = ""
    """Why it never starts, if a configuration outside of the schedulers decides that; empty: it can start."""
    unscheduled: str = ""
    """The misspelled scheduler that its pods name, so that none takes them; empty: one does."""
    unknown: bool = False
    """Whether the reason in `refusal` is that this simulation does not know what becomes of it."""
    assumed: bool = False
    """Whether its duration is an assumption."""
    passes_by: str = ""
    """Why Kueue does not manage it although it names a queue; empty: Kueue does, or it names none."""
    gang: GangSettings | None = None
    """None: Volcano does not schedule it."""
    retries: int | None = None
    """How many of its pods may fail until it fails; None: its controller creates them again without end."""
    unmodelled: tuple[str, ...] = ()
    """What it asks for and this simulation does not know."""
    completions: int | None = None
    """How many pods of a Job must end; None: not set, or equal to the number of pods that Kueue admits."""
    elastic: bool = False
    """Whether it is an elastic Job of Kueue, which cannot run with fewer pods by partial admission."""
    replica_of: str = ""
    """The object that makes it and other equal jobs, so that a change of one changes all; empty: none."""
    model: str = ""
    """The model of a spec that it runs; empty: it names none."""
    asks_topology: bool = False
    """Whether its pods ask Kueue for a topology, but have no Workload: Kueue counts them on no node."""

    def with_pods(self, counts: Mapping[str, int]) -> "Arrival":
        """The job with these numbers of pods, by pod set: after a partial admission, fewer."""
        if all(counts.get(it.name, it.count) == it.count for it in self.pods):
            return self
        pods = (replace(it, count=counts.get(it.name, it.count)) for it in self.pods)
        return replace(self, pods=tuple(pods))

    def admitted(self) -> "Arrival":
        """The job with the pods that Kueue admitted; without an admission, all."""
        admission = self.workload.admission if self.workload is not None else None
        return self.with_pods({} if admission is None else admission.counts)

    def lasts(self, pods: int) -> float | None:
        """How long it must run with so many pods, after a partial admission; None: until the simulation ends.

        A Job with completions runs the rest of them afterwards. Pods of other jobs share the same work.
        """
        every = sum(it.count for it in self.pods)
        if self.duration is None or not 0 < pods < every:
            return self.duration
        if self.completions is None:
            return self.duration * every / pods
        return self.duration * -(-self.completions // pods) / -(-self.completions // every)

    @property
    def is_placed(self) -> bool:
        """Whether all pods, after a partial admission those that Kueue admitted, have a node."""
        return sum(map(bool, self.nodes)) >= sum(it.count for it in self.admitted().pods)

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return self.name.partition("/")[0]

    @property
    def is_of_pods(self) -> bool:
        """Whether Kueue makes its Workload of pods, which exist before it is admitted."""
        return self.workload is not None and self.kind in _OF_PODS

    @property
    def object_name(self) -> str:
        """Namespace and name, without the kind."""
        return self.name.removesuffix(f" ({self.kind})")

    @property
    def is_outside_topologies(self) -> bool:
        """Whether Kueue's topologies count its pods by their nodes, since Kueue did not place them."""
        admission = self.workload.admission if self.workload is not None else None
        return not self.asks_topology and (admission is None or not admission.placements())
