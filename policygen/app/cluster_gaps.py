"""What could not be read of a cluster, and whether an answer about its jobs depends on it."""

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct, field

from policygen.client import unread
from policygen.core.errors import UnreadError
from policygen.core.quoting import listed
from policygen.kubernetes.cluster import KUEUE, SCHEDULING, VOLCANO, VOLCANO_BATCH
from policygen.kubernetes.snapshot import (
    CONFIG_MAP,
    NAMESPACE,
    NODE,
    POD,
    GroupKind,
    Seen,
    Snapshot,
)
from policygen.lint.kinds import WORKLOADS
from policygen.simulate.arrival import Arrival

_OF_KUEUE = frozenset(
    GroupKind(KUEUE, it)
    for it in (
        "AdmissionCheck",
        "ClusterQueue",
        "Cohort",
        "LocalQueue",
        "ResourceFlavor",
        "Topology",
        "Workload",
        "WorkloadPriorityClass",
    )
)
"""Without one of these kinds, nothing is known about a job of Kueue."""
_OF_VOLCANO = frozenset(GroupKind(VOLCANO, it) for it in ("PodGroup", "Queue"))
"""The same for a job of Volcano."""
_OF_ALL = frozenset({GroupKind(SCHEDULING, "PriorityClass")})
"""The same for each job: a class that does not exist keeps pods from being created."""
JOBS = WORKLOADS | {POD, GroupKind(KUEUE, "Workload"), GroupKind(VOLCANO, "PodGroup")}
"""Kinds that are jobs, or that controllers create for jobs."""
_READ = (
    _OF_KUEUE
    | _OF_VOLCANO
    | _OF_ALL
    | JOBS
    | {
        CONFIG_MAP,
        NAMESPACE,
        NODE,
        GroupKind("", "LimitRange"),
        GroupKind("", "ResourceQuota"),
        GroupKind("node.k8s.io", "RuntimeClass"),
    }
)
"""The kinds that a simulation reads."""
_USING = frozenset({POD, GroupKind(KUEUE, "Workload")})
"""Namespaced kinds whose objects hold quota and nodes that jobs of other namespaces need."""


class ClusterGaps(Struct, frozen=True):
    """Kinds that a simulation needs and that were not read, each with messages; and other messages."""

    context: str = ""
    kinds: Mapping[GroupKind, tuple[str, ...]] = field(default_factory=dict)
    others: tuple[str, ...] = ()

    def messages(self, jobs: Collection[Arrival] | None = None) -> tuple[str, ...]:
        """What was not read, for an answer about these jobs; None: about all jobs of the cluster."""
        skipped: frozenset[GroupKind] = frozenset()
        if jobs:
            gangs = sum(it.gang is not None for it in jobs)
            if gangs == len(jobs):
                skipped = _OF_KUEUE
            elif not gangs:
                skipped = _OF_VOLCANO | {GroupKind(VOLCANO_BATCH, "Job")}
        named = (text for it in sorted(self.kinds) if it not in skipped for text in self.kinds[it])
        return (*named, *self.others)

    def check(self, jobs: Iterable[Arrival]) -> None:
        """Raises UnreadError if nothing can be answered about one of these jobs."""
        jobs = tuple(jobs)
        self.require(
            kueue=any(it.gang is None and (it.workload is not None or it.refusal) for it in jobs),
            volcano=any(it.gang is not None for it in jobs),
            jobs=bool(jobs),
        )

    def require(self, *, kueue: bool = False, volcano: bool = False, jobs: bool = True) -> None:
        """Raises UnreadError without a kind that decides about such jobs."""
        needed = _OF_ALL if jobs else frozenset[GroupKind]()
        if kueue:
            needed |= _OF_KUEUE
        if volcano:
            needed |= _OF_VOLCANO
        self._refuse(needed)

    def require_jobs(self) -> None:
        """Raises UnreadError if a job can exist that was not read."""
        self._refuse(JOBS)

    def _refuse(self, needed: Collection[GroupKind]) -> None:
        missed = sorted(it for it in self.kinds if it in needed)
        if missed:
            error = UnreadError(
                f"{self.context}: policygen cannot answer without {listed([*map(str, missed)], 'and')}; "
                "`policygen rbac` prints the permissions that it needs"
            )
            error.details = [f"{self.context}: {text}" for it in missed for text in self.kinds[it]]
            raise error


def gaps(snapshot: Snapshot | None) -> ClusterGaps:
    """What a snapshot lacks. A kind that its server does not serve has no objects, so it is no gap."""
    if snapshot is None:
        return ClusterGaps()
    seen = snapshot.seen
    kinds = {it: tuple(_of_kind(seen, it)) for it in _READ - seen.read - seen.unserved}
    others = [*unread.namespaces(snapshot)]
    if seen.namespaces:
        names = [str(it) for it in sorted(_USING - kinds.keys() - seen.unserved)]
        where = f"{'namespace' if len(seen.namespaces) == 1 else 'namespaces'} {listed([*seen.namespaces], 'and')}"
        others += [
            f"{it} was read only in {where}; objects of other namespaces also use quota and nodes"
            for it in names
        ]
    return ClusterGaps(seen.context, kinds, tuple(others))


def _of_kind(seen: Seen, kind: GroupKind) -> Iterable[str]:
    found = [str(it) for it in seen.gaps if (it.group, it.kind) == kind]
    return found or [f"{kind} was not read"]
