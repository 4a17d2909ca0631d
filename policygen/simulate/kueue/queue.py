"""ClusterQueues: their settings, their quota, and their workloads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from policygen.simulate.kueue.pending import PendingQueue
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.workload import QueuedWorkload

NEVER, LOWER_PRIORITY, NEWER_EQUAL, ANY = (
    "Never",
    "LowerPriority",
    "LowerOrNewerEqualPriority",
    "Any",
)
STRICT = "StrictFIFO"
NONE, HOLD_AND_DRAIN = "None", "HoldAndDrain"
"""Stop policies; the third is Hold."""


@dataclass(frozen=True, slots=True)
class FlavorChoice:
    """A flavor of a resource group."""

    name: str
    pairs: Mapping[str, int]
    """The index of its pair with each covered resource."""


@dataclass(frozen=True, slots=True)
class Group:
    """Resources that get the same flavor."""

    covered: frozenset[str]
    flavors: tuple[FlavorChoice, ...]


@dataclass(slots=True, eq=False)
class SimulatedQueue:
    """A ClusterQueue: its settings, its quota, and its workloads."""

    name: str
    node: QuotaNode
    groups: tuple[Group, ...]
    strategy: str = "BestEffortFIFO"
    within_cluster_queue: str = NEVER
    reclaim_within_cohort: str = NEVER
    borrow_within_cohort: str = NEVER
    priority_threshold: int | None = None
    """Of `borrow_within_cohort`."""
    try_next_after_borrow: bool = False
    try_next_after_preempt: bool = True
    preemption_over_borrowing: bool = False
    namespaces: frozenset[str] = frozenset()
    """Those whose workloads it admits."""
    tas_only: bool = False
    """Whether all its flavors have a topology."""
    stop_policy: str = NONE
    missing: str = ""
    """Objects that it references and that do not exist, in Kueue's words; empty: it has all."""
    checks: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The flavors of each admission check; empty: all."""
    generation: int = 1
    """Grows whenever its workloads that hold quota change, or quota may have become free."""
    workloads: dict[str, QueuedWorkload] = field(default_factory=dict)
    """Those that hold quota, by name."""
    tries: dict[Any, Any] = field(default_factory=dict)
    """The last tries, by the equivalence of workloads."""
    pending: PendingQueue = field(init=False)
    group_of: dict[str, Group] = field(init=False)
    """By resource."""

    def __post_init__(self) -> None:
        self.pending = PendingQueue(strict=self.strategy == STRICT)
        self.group_of = {it: group for group in self.groups for it in group.covered}

    def flavors(self) -> set[str]:
        """The flavors of all its resource groups."""
        return {it.name for group in self.groups for it in group.flavors}

    @property
    def inactive(self) -> str:
        """Why it admits nothing; empty: it is active."""
        if self.stop_policy == NONE:
            return self.missing
        return ", ".join(it for it in ("is stopped", self.missing) if it)

    @property
    def path(self) -> str:
        """Its cohorts from the root on and its name, as Kueue's messages write it."""
        names = [self.name, *(it.name for it in self.node.ancestors())]
        return "/" + "/".join(reversed(names))
