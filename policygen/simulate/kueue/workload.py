"""Workloads: the jobs that Kueue decides about.

Amounts are in Kueue's units (`amounts`). Times are seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from policygen.simulate.kueue.topology import TopologyPlacement, TopologyRequest


class PodSet(Struct, frozen=True, cache_hash=True):
    """Pods of one template."""

    name: str
    count: int
    requests: tuple[tuple[str, int], ...]
    """What one pod requests, in the order in which Kueue evaluates resources."""
    shape: Any = None
    """What selects nodes; equal shapes match the same flavors. See `flavor_match`."""
    min_count: int | None = None
    """With partial admission: the fewest pods."""
    topology: TopologyRequest | None = None
    per_pod: tuple[tuple[str, int], ...] = ()
    """What one pod needs of a node; quota may count something else."""

    @property
    def fewest(self) -> int:
        """The fewest pods with which Kueue admits it."""
        return self.count if self.min_count is None else min(self.min_count, self.count)

    def total(self, count: int) -> dict[str, int]:
        """The requests of `count` pods."""
        return {resource: amount * count for resource, amount in self.requests}


class PodSetAdmission(Struct, frozen=True):
    """The flavors of the pods of one template."""

    name: str
    count: int
    flavors: Mapping[str, str]
    """By resource."""
    placement: TopologyPlacement | None = None
    """Its domains, with topology-aware scheduling."""


class Admission(Struct, frozen=True):
    """A reservation of quota."""

    pod_sets: tuple[PodSetAdmission, ...]
    usage: tuple[tuple[int, int], ...]
    """Amounts by pair."""
    pairs: frozenset[int]
    """The pairs that its pods use."""
    at: float

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of pods by pod set."""
        return {it.name: it.count for it in self.pod_sets}

    def placements(self) -> list[TopologyPlacement]:
        """The placements of its pod sets."""
        return [it.placement for it in self.pod_sets if it.placement is not None]


class LastAssignment(Struct):
    """Where the scan of flavors ended, and when."""

    tried: list[dict[str, int]]
    """By pod set and resource: the index of the last flavor tried, -1 after the last of the list."""
    generation: int
    cycle: int

    def pending(self) -> bool:
        """Whether a flavor is left to try."""
        for tried in self.tried:
            for index in tried.values():
                if index != -1:
                    return True
        return False


@dataclass(slots=True, eq=False)
class QueuedWorkload:
    """A job for Kueue: its pods, and what Kueue decided about it."""

    name: str
    """Namespace and name."""
    uid: str
    queue: str
    """Namespace and name of its LocalQueue."""
    priority: int
    created: float
    pod_sets: tuple[PodSet, ...]
    refusal: str = ""
    """Why it is not admissible in itself, in Kueue's words: LimitRanges, or requests above limits."""
    admission: Admission | None = None
    evicted: bool = False
    """It must leave, and still holds its quota."""
    reason: str = ""
    """Why it was evicted, or waits."""
    message: str = ""
    """Kueue's message about the wait."""
    last: LastAssignment | None = None
    active: bool = True
    """Whether Kueue may admit it (spec.active)."""
    maximum_execution: float | None = None
    """Seconds after which Kueue deactivates it."""
    assigned: bool = False
    """Whether Kueue has ever queued it; what it frees is not noticed before."""
    expired: bool = False
    """It ran for its maximum time. Kueue 0.19 deactivates it again when somebody activates it."""
    executed: float = 0.0
    """So long it was admitted before the present admission."""
    behind: float | None = None
    """The time of an eviction after which Kueue puts it behind others, until it is admitted again."""
    pending_checks: frozenset[str] = frozenset()
    """Admission checks that its quota waits for."""
    admitted_at: float | None = None
    """When its quota and all checks were there, so that its pods could start."""
    ready: bool = False
    """Whether its pods are ready."""
    hold: str = ""
    """Why it is not queued again after an eviction: the reason of its condition Requeued."""
    requeues: int = 0
    """How often its pods were not ready in time."""
    retry_at: float | None = None
    """When the time after such an eviction is over, or an admission check asks for its eviction."""
    retrying: str = ""
    """The admission check that asks for its eviction."""
    rejecting: str = ""
    """The one that rejected it before that time."""
    either: bool = False
    """A tie decided about it: Kueue may as well decide otherwise."""
    equivalence: Any = field(init=False)
    """Workloads with equal values get the same decision."""

    def __post_init__(self) -> None:
        self.equivalence = (self.pod_sets, self.priority)

    @property
    def queued(self) -> float:
        """The time that decides about its place in the queue."""
        return self.created if self.behind is None else self.behind

    @property
    def order(self) -> tuple[int, float, str, str]:
        """Its queue tries the workload with the smallest first."""
        return -self.priority, self.queued, self.uid, self.name

    @property
    def partial(self) -> bool:
        """Whether it can run with fewer pods."""
        return any(it.min_count is not None and it.min_count < it.count for it in self.pod_sets)
