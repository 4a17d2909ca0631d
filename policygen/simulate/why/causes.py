"""Why a workload waits, as data: the cause, and the numbers behind it."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from policygen.kubernetes.core import TaintView
from policygen.simulate.arrival import PodBatch


class CauseKind(Enum):
    """What keeps a workload from running. Its value is its name in reports."""

    ADMITTED = "admitted"
    """It holds its quota, and nothing else keeps it from running."""
    ADMISSIBLE = "admissible"
    """Nothing keeps Kueue from admitting it."""
    NOT_MANAGED = "not-managed"
    """Kueue creates no Workload for it."""
    QUEUE_MISSING = "queue-missing"
    LOCAL_QUEUE_STOPPED = "local-queue-stopped"
    CLUSTER_QUEUE_MISSING = "cluster-queue-missing"
    CLUSTER_QUEUE_STOPPED = "cluster-queue-stopped"
    FLAVOR_MISSING = "flavor-missing"
    CHECK_MISSING = "admission-check-missing"
    TOPOLOGY_MISSING = "topology-missing"
    CHECK_INACTIVE = "admission-check-inactive"
    COHORT_CYCLE = "cohort-cycle"
    NAMESPACE_NOT_SELECTED = "namespace-not-selected"
    DEACTIVATED = "deactivated"
    REFUSED = "requests-refused"
    """Its requests are above its limits, or outside of a LimitRange."""
    NOT_COVERED = "resource-without-quota"
    FLAVORS_REFUSE = "no-flavor-matches"
    """No flavor matches the pods: taints, or their node selector and affinity."""
    ABOVE_MAXIMUM = "above-maximum"
    """It asks for more than its queue can ever use."""
    BORROWING_LIMIT = "borrowing-limit"
    NOT_LENT = "not-lent"
    """Other queues have free quota, and their lendingLimit keeps it."""
    NO_FREE_QUOTA = "no-free-quota"
    MAY_NOT_PREEMPT = "may-not-preempt"
    """Its queue has the right to the quota, or it has the priority, but no policy lets it preempt."""
    TOPOLOGY_FULL = "topology-domains-full"
    """Its quota is free, but no domain of the topology has room for its pods."""
    TOPOLOGY_TOO_SMALL = "topology-domains-too-small"
    """Not even an empty domain has room for its pods."""
    QUEUE_HEAD = "behind-queue-head"
    ANOTHER_FIRST = "another-first"
    """Another workload takes the quota in the same cycle."""
    CHECK_PENDING = "admission-check-pending"
    BACKOFF = "requeued-later"
    """Kueue evicted it, and waits before it tries it again."""
    LIVELOCK = "livelock"
    NO_NODES = "no-node-fits"
    NODE_REJECTS = "node-rejects-pods"
    """The node that its pods name (nodeName) has no room for them, or does not exist."""
    SCHEDULER_UNKNOWN = "scheduler-unknown"
    GATED = "scheduling-gate"
    PODS_REFUSED = "pods-refused"
    """A ResourceQuota refuses its pods."""
    VOLCANO_QUEUE_MISSING = "volcano-queue-missing"
    VOLCANO_QUEUE_CLOSED = "volcano-queue-closed"
    VOLCANO_TREE = "volcano-queues-invalid"
    """The queues of Volcano form no valid tree, so none of them takes jobs."""
    VOLCANO_LIMIT = "volcano-queue-full"
    VOLCANO_ABOVE_LIMIT = "volcano-above-limit"
    """It requests more than its queue, or one above it, can ever use."""
    VOLCANO_OVERCOMMIT = "volcano-overcommit"
    """Volcano enqueues no more jobs than the nodes can hold, times a factor."""
    GANG_INCOMPLETE = "gang-incomplete"
    """It has fewer pods than must start together."""
    VOLCANO = "volcano"
    """Volcano does not start its gang for another reason."""
    UNKNOWN = "unknown"
    """A feature that is not modelled decides about it."""


LASTING = frozenset(
    {
        CauseKind.NOT_MANAGED, CauseKind.QUEUE_MISSING, CauseKind.LOCAL_QUEUE_STOPPED,
        CauseKind.CLUSTER_QUEUE_MISSING, CauseKind.CLUSTER_QUEUE_STOPPED, CauseKind.FLAVOR_MISSING,
        CauseKind.CHECK_MISSING, CauseKind.CHECK_INACTIVE, CauseKind.COHORT_CYCLE,
        CauseKind.NAMESPACE_NOT_SELECTED, CauseKind.DEACTIVATED, CauseKind.REFUSED,
        CauseKind.NOT_COVERED, CauseKind.FLAVORS_REFUSE, CauseKind.ABOVE_MAXIMUM,
        CauseKind.SCHEDULER_UNKNOWN, CauseKind.TOPOLOGY_MISSING, CauseKind.TOPOLOGY_TOO_SMALL,
        CauseKind.VOLCANO_QUEUE_MISSING, CauseKind.VOLCANO_QUEUE_CLOSED, CauseKind.VOLCANO_TREE,
        CauseKind.VOLCANO_ABOVE_LIMIT, CauseKind.GANG_INCOMPLETE,
    }
)  # fmt: skip
"""Causes that other jobs do not end: without a change, the workload never starts."""


BY_QUEUE_OF_VOLCANO = frozenset(
    {
        CauseKind.VOLCANO, CauseKind.VOLCANO_QUEUE_MISSING, CauseKind.VOLCANO_QUEUE_CLOSED,
        CauseKind.VOLCANO_TREE, CauseKind.VOLCANO_LIMIT, CauseKind.VOLCANO_ABOVE_LIMIT,
        CauseKind.VOLCANO_OVERCOMMIT, CauseKind.GANG_INCOMPLETE,
    }
)  # fmt: skip
"""Causes in Volcano's scheduler; their queue is one of Volcano."""


class ObstacleKind(Enum):
    """Why one flavor does not hold a pod set."""

    TAINT = "taint"
    AFFINITY = "affinity"
    MISSING = "missing"
    TOPOLOGY_REFUSED = "topology-refused"
    """It has no topology, or not the level that the pods ask for; or it is only for pods that ask for one."""
    TOPOLOGY_FULL = "topology-full"
    NOT_COVERED = "not-covered"
    ABOVE_MAXIMUM = "above-maximum"
    NO_FREE_QUOTA = "no-free-quota"


class QuotaHolder(Struct, frozen=True):
    """A ClusterQueue that uses quota which the workload needs."""

    queue: str
    used: int
    borrowed: int
    """What it uses above its own quota."""
    workloads: tuple[str, ...] = ()
    """Those that use the most, the largest first."""


class QuotaLimit(Struct, frozen=True):
    """A limit of a queue or cohort, in Kueue's unit of the resource."""

    kind: str
    """ClusterQueue or Cohort."""
    name: str
    field: str
    """borrowingLimit or lendingLimit."""
    limit: int
    used: int
    """What it borrows; with a lendingLimit, what it has free and does not lend."""


class FlavorObstacle(Struct, frozen=True):
    """Why a flavor does not hold the pods of a pod set. Amounts are in Kueue's unit of the resource."""

    kind: ObstacleKind
    pod_set: str
    flavor: str = ""
    resource: str = ""
    asked: int = 0
    """By this pod set and those before it."""
    free: int = 0
    """What its queue can use now, with borrowing."""
    nominal: int = 0
    """The quota of its queue."""
    used: int = 0
    """What its queue uses."""
    most: int = 0
    """What its queue can use at most."""
    idle: int = 0
    """What is free in other queues, and not lent to it."""
    holders: tuple[QuotaHolder, ...] = ()
    limits: tuple[QuotaLimit, ...] = ()
    """Those that keep more of the resource from its queue."""
    taint: TaintView | None = None
    """That its pods do not tolerate."""


class Shortage(Struct, frozen=True):
    """How much quota is missing, in Kueue's unit of the resource."""

    asked: int
    missing: int
    most: int
    """The most that is added in trials: others that wait can take a part of it."""


class NodeReason(Struct, frozen=True):
    """A reason of kube-scheduler, and the nodes that it keeps from taking a pod."""

    reason: str
    nodes: int


class NearestNode(Struct, frozen=True):
    """The node that comes closest to holding a pod."""

    node: str
    resource: str
    asked: int
    free: int
    holders: tuple[str, ...] = ()
    """Pods on it that hold the resource, the largest first."""


class NeverPlaced(Struct, frozen=True):
    """Why nodes without other pods do not hold all pods of a workload."""

    pods: int
    placed: int
    """How many of its pods they hold."""
    alone: bool
    """Whether they hold the first other pod if it is alone."""
    nearest: NearestNode | None = None
    """The node that has the most of what one pod requests too much of."""


class WaitingPods(Struct, frozen=True):
    """The pods of a pod set that have no node, or that a ResourceQuota refuses."""

    pod_set: str
    waiting: int
    pods: int
    """All of the pod set."""


class Cause(Struct, frozen=True):
    """Why a workload waits."""

    kind: CauseKind
    about: str = ""
    """The object that it is about: `LocalQueue nlp/a100`."""
    queue: str = ""
    """The ClusterQueue of the workload, or the queue of Volcano that keeps it waiting, if it has one."""
    message: str = ""
    """The words of the scheduler."""
    obstacles: tuple[FlavorObstacle, ...] = ()
    """For each flavor, the one that comes closest first."""
    reclaim: str = ""
    """reclaimWithinCohort of its queue."""
    within: str = ""
    """withinClusterQueue of its queue."""
    node_reasons: tuple[NodeReason, ...] = ()
    nearest: NearestNode | None = None
    never: NeverPlaced | None = None
    """Its pods find no node even when all others have ended."""
    placed: int = 0
    """How many of its pods have a node."""
    pods: int = 0
    """All of its pods."""
    waiting: tuple[WaitingPods, ...] = ()
    """If it has several pod sets, those with pods that wait. The reasons are those of the first one."""
    fewest: int = 0
    """The fewest with which Kueue admits it, which the obstacles are about; 0: all."""
    names: tuple[str, ...] = ()
    """Names that the cause mentions: queues to choose from, workloads before it."""
    field: str = ""
    """The field that names a missing queue of Volcano: `spec.queue of Job nlp/train`."""
    queue_kind: str = "ClusterQueue"
    """Of `queue`: ClusterQueue, or Queue for one of Volcano."""

    @property
    def group(self) -> tuple[str, ...]:
        """Equal for workloads that wait for the same reason at the same place."""
        flavors = {it.flavor: None for it in self.obstacles}
        never = self.never is not None
        where = f"{self.queue_kind} {self.queue}" if self.queue else self.about
        return self.kind.value, where, ",".join(flavors), str(never)

    @property
    def lasts(self) -> bool:
        """Whether the workload never starts without a change, whatever other workloads do."""
        if self.kind is CauseKind.SCHEDULER_UNKNOWN and len(self.names) == 1:
            return False  # like no known name: it can be a scheduler that policygen does not know
        return self.never is not None or self.kind in LASTING


def waiting_pods(pods: Sequence[PodBatch], waiting: Iterable[int]) -> tuple[WaitingPods, ...]:
    """The pod sets with pods that wait, by how many of each do; empty if there is only one pod set."""
    if len(pods) < 2:
        return ()
    return tuple(
        WaitingPods(it.name, count, it.count)
        for it, count in zip(pods, waiting, strict=True)
        if count
    )


def with_owners(cause: Cause, owner: Callable[[str], str]) -> Cause:
    """The cause with the names of the objects of users instead of those of Workloads."""
    names = cause.names
    if cause.kind in (CauseKind.QUEUE_HEAD, CauseKind.LIVELOCK):
        names = tuple(map(owner, names))
    obstacles = tuple(
        replace(
            it,
            holders=tuple(
                replace(one, workloads=tuple(map(owner, one.workloads))) for one in it.holders
            ),
        )
        for it in cause.obstacles
    )
    return replace(cause, names=names, obstacles=obstacles)
