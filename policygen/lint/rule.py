"""What a rule that checks objects is, what it may read, and what it yields."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, field

from policygen.core import durations
from policygen.core.finding import At, Edit, Hit, Verb
from policygen.core.quoting import quoted
from policygen.core.rule import Family, Rule, Severity
from policygen.core.versions import Minor, Version
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.field_access import Roots
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Seen
from policygen.spec.types import Spec

if TYPE_CHECKING:  # what renders and compares is imported where there is a spec
    from policygen.drift.drift import Rendered
    from policygen.plan.compile import Plan

T = TypeVar("T")

__all__ = [
    "Check",
    "ClusterState",
    "Edit",
    "Facts",
    "Family",
    "Fix",
    "Hit",
    "Hits",
    "Need",
    "NotEvaluatedError",
    "ObjectRule",
    "Severity",
    "TooLargeError",
    "Verb",
    "shared",
    "written",
]


class Need(Enum):
    """Input without which a rule cannot be evaluated, besides the kinds that it judges."""

    WHOLE = "the complete set of policy objects"
    """Not given with --partial, or if something could not be read."""
    QUEUES = "the complete set of ClusterQueues and Cohorts"
    """Given with WHOLE, and with --partial if all of them are those that the spec renders."""
    BUILT = "the output of kustomize build"
    """Not given if the manifests have a kustomization, because its generators can create further objects."""
    NODES = "Nodes"
    KNOWN_NODES = "Nodes, or a spec with pools"
    WORKLOADS = "pods or objects that create pods"
    KUEUE_CONFIGURATION = "Kueue's Configuration"
    VOLCANO_CONFIGURATION = "Volcano's scheduler configuration"
    SCHEDULER_CONFIGURATION = "a KubeSchedulerConfiguration"
    NAMESPACES = "Namespaces"
    SPEC = "a spec"
    SEEN = "a live cluster or a snapshot"
    """It has status, pods, field managers and a current time, which manifests do not have."""
    STATE = "a cluster or a snapshot to which the manifests are applied"


class ClusterState(Struct, frozen=True, eq=False):
    """The objects of a cluster to which manifests are applied, or of a spec that is applied too."""

    name: str
    """The name of the cluster; empty if it has none."""
    objects: Mapping[tuple[str, str, str, str], Object]
    """By `Object.identity`."""
    kubernetes: Minor
    """The release of its API server."""
    seen: Seen | None = None
    """What was read of it; None: they are the objects that a spec renders."""

    @property
    def shown(self) -> str:
        """The cluster in a message."""
        return f"cluster {quoted(self.name)}" if self.name else "the cluster"


class Facts(Struct, frozen=True, eq=False):
    """All that a rule may read."""

    cluster: Cluster
    target: Mapping[str, Version]
    """The versions that objects are checked for, by component. On a cluster: those that run there, if
    they were detected."""
    given: frozenset[Need]
    spec: Spec | None = None
    plan: "Plan | None" = None
    requested: Mapping[str, Version] = field(default_factory=dict)
    """The versions that the spec or the command line sets."""
    rendered: "Rendered | None" = None
    """What the spec renders; None for manifests."""
    state: ClusterState | None = None
    """What exists where manifests are applied; None for the objects of a cluster."""
    kubeconfig: str = ""
    """The kubeconfig file that the user named, for commands in findings."""
    run: frozenset[str] = frozenset()
    """The names of all rules of this run: a rule skips what another rule reports only if that runs."""
    _derived: dict[tuple[Callable[..., Any], Cluster], tuple[Any, Roots]] = field(
        default_factory=dict
    )

    @property
    def now(self) -> datetime:
        """When the cluster was read. Raises ValueError for manifests: use it with Need.SEEN."""
        if self.cluster.seen is None:
            raise ValueError("manifests have no current time")
        return self.cluster.seen.taken

    def derive(self, make: "Callable[[Facts], T]") -> T:
        """The cached result of a function of the facts. Pass a function with a name: it is the key."""
        key = make, self.cluster  # a cluster without invalid objects has other results
        accesses = self.cluster.accesses
        if key not in self._derived:
            self._derived[key] = accesses.recorded(lambda: make(self))
        made, read = self._derived[key]
        accesses.repeat(read)
        found: T = made
        return found

    def bound(self, rule: "ObjectRule") -> timedelta:
        """How long a rule waits before it reports: as `lint.bounds` sets, or the rule's default."""
        bounds = dict(self.spec.platform.lint.bounds) if self.spec else {}
        names = (rule.name, *rule.aliases)
        seconds = durations.seconds(next((bounds[name] for name in names if name in bounds), None))
        return rule.bound if seconds is None else timedelta(seconds=float(seconds))


class NotEvaluatedError(Exception):
    """A rule does not check this input, or not all of it; the message is the reason."""

    hits: "tuple[Hit, ...]" = ()
    """What the rule found before."""


class TooLargeError(NotEvaluatedError):
    """The input is too large for a rule: the run reports this, because the rule may have more hits."""


class Fix(Enum):
    """What `lint --fix` may do about a fault."""

    SAFE = "safe"
    """Servers and controllers do the same as before, or refused the object before."""
    UNSAFE = "unsafe"
    """The fix is certain, but changes what servers or controllers do."""


def written(at: At, value: str) -> tuple[Edit, ...]:
    """The edit that writes a value that was probably meant; none if the value is empty."""
    return (Edit(Verb.REWRITE, at, value),) if value else ()


Hits = Iterator[Hit]
"""The faults that a rule finds, in order."""
Check = Callable[[Facts], Hits]


def shared(rule: Rule, family: Family) -> tuple[str, Severity, Family, str, str, tuple[str, ...]]:
    """The first arguments of an ObjectRule about a fault that a spec can have too.

    Name, severity, texts and former names are those of `rule`, which specs report, so the two cannot
    disagree. Only the family is the object rule's own: it can be switched off, and a spec's refusal cannot.
    """
    return rule.name, rule.severity, family, rule.about, rule.remedy, rule.aliases


@dataclasses.dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ObjectRule(Rule):
    """A rule that checks objects. The page `<name>.md` next to its module explains why it matters."""

    judges: tuple[str, ...]
    """The kinds that it reports about; without any of them it is vacuous. Empty: any kind."""
    check: Check
    needs: frozenset[Need] = frozenset()
    fix: Fix | None = None
    """Whether its hits may have edits; None: no fix is certain."""
    reads: tuple[str, ...] = ()
    """Further kinds that it looks up."""
    since: Mapping[str, Minor] = dataclasses.field(default_factory=dict)
    """The first release, by component, for which it holds."""
    until: Mapping[str, Minor] = dataclasses.field(default_factory=dict)
    """The first release for which it holds no longer."""
    may_exist: bool = False
    """Whether an object that servers refuse may still exist on one: it is older than the
    webhook, the object that it names was deleted, or no server checks it, as in templates of operators' kinds."""
    bound: timedelta = timedelta(0)
    """The default time before it reports; `lint.bounds` of a Platform sets another."""

    def holds(self, target: Mapping[str, Version]) -> bool:
        """Whether the rule is true of the target versions."""
        return all(target[it].release >= first for it, first in self.since.items()) and all(
            target[it].release < end for it, end in self.until.items()
        )
