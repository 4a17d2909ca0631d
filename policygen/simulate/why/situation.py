"""Queues, the workloads that hold their quota, and those that wait: what trials begin with."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import Struct, structs

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.kueue_workloads import WorkloadView
from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.object import Object
from policygen.simulate.kueue.build import pairs_of, state_of, workload_of
from policygen.simulate.kueue.entry import CycleEntry, Outcome
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.topologies import add_topologies
from policygen.simulate.kueue.topology import TopologyRequest
from policygen.simulate.kueue.victims import PreemptionReason
from policygen.simulate.kueue.workload import Admission, QueuedWorkload
from policygen.simulate.why.changes import Change, OwnChange, applied, asking

_POLICY = frozenset(
    {
        "AdmissionCheck", "ClusterQueue", "Cohort", "LimitRange", "LocalQueue", "Namespace",
        "PriorityClass", "ResourceFlavor", "RuntimeClass", "Topology", "WorkloadPriorityClass",
    }
)  # fmt: skip
"""The kinds whose objects decide about workloads."""
_REPEATED = 2
"""A workload that one other preempts more often is in a livelock with it."""


class AskedWorkload(Struct, frozen=True, eq=False):
    """A workload, as its owner wrote it."""

    name: str
    """Namespace and name."""
    kind: str
    fields: WorkloadView
    uid: str = ""
    created: float = 0.0
    may_shrink: bool = False
    """Whether Kueue admits it with fewer pods if it says so."""
    siblings: tuple["AskedWorkload", ...] = ()
    """The other replicas of its object, or of its model in a spec: the owner changes all of them at once."""
    topologies: Mapping[str, TopologyRequest] = {}
    """What its pod sets ask of topologies; no change is about that."""

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return self.name.partition("/")[0]

    @property
    def queue(self) -> str:
        """Namespace and name of its LocalQueue."""
        return f"{self.namespace}/{self.fields.queue_name}"

    def with_siblings(self, changes: Iterable[Change]) -> tuple["AskedWorkload", ...]:
        """The workloads that these changes are about."""
        own = self.siblings and any(isinstance(it, OwnChange) for it in changes)
        return (self, *self.siblings) if own else (self,)

    def changed(self, changes: Iterable[Change]) -> "AskedWorkload":
        """The workload after the changes of its owner."""
        return structs.replace(self, fields=asking(self.fields, changes))

    def queued(self, settings: Settings, changes: Iterable[Change] = ()) -> QueuedWorkload:
        """What Kueue counts of it, after changes."""
        fields = asking(self.fields, changes)
        found = workload_of(self.name, self.uid, self.created, fields, settings)
        sets = (structs.replace(it, topology=self.topologies.get(it.name)) for it in found.pod_sets)
        return replace(found, pod_sets=tuple(sets)) if self.topologies else found


class WorkloadEviction(Struct, frozen=True):
    """A preemption."""

    victim: str
    preemptor: str
    reason: PreemptionReason
    queue: str
    """The ClusterQueue of the victim."""


@dataclass(slots=True, eq=False)
class Settled:
    """What Kueue decides until nothing changes any more, if no workload ends."""

    state: QueueState
    admitted: Mapping[str, Admission] = field(default_factory=dict)
    """The workloads that hold quota in the end, by name."""
    entries: dict[str, CycleEntry] = field(default_factory=dict)
    """The last decision about each workload that was tried."""
    evictions: list[WorkloadEviction] = field(default_factory=list)
    livelocked: frozenset[str] = frozenset()
    """Workloads that preempt each other again and again."""

    @property
    def victims(self) -> list[str]:
        """The workloads that are preempted."""
        return [it.victim for it in self.evictions]


@dataclass(frozen=True, slots=True, eq=False)
class Situation:
    """The objects of queues, and workloads. No trial changes it."""

    objects: tuple[Object, ...]
    settings: Settings
    strategies: tuple[str, ...]
    pairs: Sequence[tuple[str, str]]
    """Flavor and resource by the index with which `held` counts them."""
    held: Mapping[str, tuple[QueuedWorkload, ...]]
    """The workloads that hold quota, by ClusterQueue."""
    pending: tuple[QueuedWorkload, ...]
    """The workloads that wait, in the order in which they were made."""
    nodes: tuple[Node, ...] | None = None
    """Those of topologies; None: topologies are not known."""
    used: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """What pods use that Kueue did not place in a topology, by node."""

    @property
    def names(self) -> frozenset[str]:
        """The names of all its workloads."""
        held = (it for them in self.held.values() for it in them)
        return frozenset(it.name for it in (*held, *self.pending))

    def using(self, flavors: Collection[str]) -> frozenset[str]:
        """The names of the workloads that have a quota of these flavors, or can get one."""
        cluster = Cluster(self.objects)
        queues = {
            it.name
            for it in cluster.cluster_queues
            if any(
                one.name in flavors for group in it.fields.resource_groups for one in group.flavors
            )
        }
        local = {
            f"{it.namespace}/{it.name}"
            for it in cluster.local_queues
            if it.fields.cluster_queue in queues
        }
        held = (it for them in self.held.values() for it in them)
        names = {it.name for it in self.pending if it.queue in local}
        pairs = [*self.pairs]
        for it in held:
            usage = it.admission.usage if it.admission is not None else ()
            if any(pairs[i][0] in flavors for i, amount in usage if amount):
                names.add(it.name)
        return frozenset(names)

    def around(self, queues: Iterable[str], namespace: str) -> "Situation":
        """What the decisions about these ClusterQueues depend on: their cohorts, and all workloads in them.

        `namespace` is that of the workload in question.
        """
        trees = _trees(self.objects)
        roots = {trees[it] for it in queues if it in trees}
        inside = {it for it, root in trees.items() if root in roots}
        local = {
            (it.namespace, it.name)
            for it in self.objects
            if it.kind == "LocalQueue" and _spec(it).get("clusterQueue") in inside
        }
        namespaces = {namespace, *(it for it, _ in local)}
        kept = tuple(it for it in self.objects if _matters(it, inside, namespaces, namespace))
        pairs = tuple(pairs_of(Cluster(kept)))
        held = {it: rebased(self.held[it], self.pairs, pairs) for it in inside if it in self.held}
        pending = tuple(it for it in self.pending if tuple(it.queue.split("/", 1)) in local)
        return replace(self, objects=kept, pairs=pairs, held=held, pending=pending)

    def going_on(self, settled: Settled) -> "Situation":
        """The situation after these decisions. `settled` keeps its state."""
        held = {
            queue.name: tuple(queue.workloads.values())
            for queue in settled.state.queues.values()
            if queue.workloads
        }
        pending = tuple(it for it in self.pending if it.name not in settled.admitted)
        return replace(self, held=held, pending=pending, pairs=settled.state.pairs)

    def settle(
        self,
        asked: AskedWorkload | None = None,
        changes: Sequence[Change] = (),
        *,
        without: Collection[str] = (),
        keep: bool = False,
    ) -> Settled:
        """What Kueue decides with a workload, after changes. `without` are workloads that have ended.

        With `keep`, the state of the result can be used; otherwise only its other values.
        """
        objects = applied(self.objects, changes) if changes else self.objects
        cluster = Cluster(objects)
        state = state_of(cluster, self.strategies)
        if self.nodes is not None:
            add_topologies(state, cluster, self.nodes, self.used)
        held = self.held
        if keep or list(state.pairs) != list(self.pairs):
            held = {it: rebased(them, self.pairs, state.pairs) for it, them in held.items()}
        pending = [replace(it) for it in self.pending if it.name not in without]
        if asked is not None:
            settings = self.settings
            if any(getattr(it, "kind", "") == "LimitRange" for it in changes):
                settings = _with_cluster(settings, cluster)
            group = asked.with_siblings(changes)
            names = {it.name for it in group}
            pending = [it for it in pending if it.name not in names]
            without = {*without, *names}
            active = (it for it in group if asking(it.fields, changes).active)
            pending += [it.queued(settings, changes) for it in active]
        return _Run(state, held, without).settle(pending)


def rebased(
    workloads: Iterable[QueuedWorkload],
    pairs: Sequence[tuple[str, str]],
    others: Sequence[tuple[str, str]],
) -> tuple[QueuedWorkload, ...]:
    """Copies of workloads whose quota is counted with other indexes of pairs."""
    index = {pair: i for i, pair in enumerate(others)}
    new = [index.get(pair) for pair in pairs]
    found = []
    for it in workloads:
        held = it.admission
        if held is None:
            continue
        usage = tuple((i, amount) for old, amount in held.usage if (i := new[old]) is not None)
        admission = structs.replace(held, usage=usage, pairs=frozenset(i for i, _ in usage))
        found.append(replace(it, admission=admission))
    return tuple(found)


class _Run:
    """Runs a scheduler until nothing changes, and gives the workloads back as they were."""

    def __init__(
        self,
        state: QueueState,
        held: Mapping[str, Sequence[QueuedWorkload]],
        without: Collection[str],
    ) -> None:
        self.state = state
        self.known = frozenset(
            it for it, queue in state.local_queues.items() if queue in state.queues
        )
        """Those that take workloads. A stopped one keeps the workloads that it has."""
        self.scheduler = Scheduler(state)
        self.found = Settled(state)
        self.now = 0.0
        """Later than all admissions until now, since Kueue preempts the last one first."""
        homes = dict(state.local_queues)
        for name, workloads in held.items():
            queue = state.queues[name]
            total: dict[int, int] = {}
            for it in workloads:
                if it.name in without or it.admission is None:
                    continue
                homes.setdefault(it.queue, name)
                self.now = max(self.now, it.admission.at)
                it.assigned = True  # so that others are tried again when it leaves
                queue.workloads[it.name] = it
                state.use_domains(it.admission.placements())
                for pair, amount in it.admission.usage:
                    total[pair] = total.get(pair, 0) + amount
            state.reserve(queue.node, total.items())
        state.local_queues = homes
        self.before: dict[str, tuple[QueuedWorkload, Admission]] = {}
        self.leaving: dict[str, QueuedWorkload] = {}
        """The victims that still hold their quota, by name."""

    def settle(self, pending: Iterable[QueuedWorkload]) -> Settled:
        """Submit the workloads that exist, then those that arrive later, in their order."""
        by_time: dict[float, list[QueuedWorkload]] = {}
        for it in pending:
            if it.queue in self.known:
                by_time.setdefault(max(it.created, 0.0), []).append(it)
        for time in sorted(by_time):
            for it in by_time[time]:
                self.scheduler.submit(it)
            self._cycles()
        found = self.found
        found.admitted = {
            it.name: it.admission
            for queue in self.state.queues.values()
            for it in queue.workloads.values()
            if it.admission is not None
        }
        for workload, admission in self.before.values():
            workload.admission, workload.evicted, workload.last = admission, False, None
        return found

    def _cycles(self) -> None:
        scans = max(
            (len(g.flavors) for q in self.state.queues.values() for g in q.groups), default=0
        )
        quiet = 0
        preempted: dict[tuple[str, str], int] = {}
        while True:
            while quiet <= scans and self.scheduler.waits():
                self.now += 1
                quiet = 0 if self._cycle(self.now, preempted) else quiet + 1
            if self.leaving:
                self._release()
                quiet = 0
                continue
            if max(preempted.values(), default=0) > _REPEATED:
                pairs = [it for it, times in preempted.items() if times > _REPEATED]
                self.found.livelocked = frozenset(name for pair in pairs for name in pair)
                return
            roots = self.scheduler.changed()
            if not roots or not self.scheduler.retry(roots):
                return
            quiet = 0

    def _cycle(self, now: float, preempted: dict[tuple[str, str], int]) -> bool:
        """Run one cycle; true if a workload was admitted, preempted or parked."""
        moved = False
        before = self.scheduler.to_try()
        for entry in self.scheduler.cycle(now):
            self.found.entries[entry.workload.name] = entry
            if entry.outcome is Outcome.ADMITTED:
                moved = True
            if entry.outcome is not Outcome.PREEMPTING:
                continue
            for target in entry.targets:
                victim = target.workload
                if victim.name in self.leaving:
                    continue
                pair = victim.name, entry.workload.name
                preempted[pair] = preempted.get(pair, 0) + 1
                if preempted[pair] > _REPEATED:
                    continue
                moved = True
                self._evict(victim, entry, target.reason)
        # A workload that was parked makes room for the next one of its queue.
        return moved or self.scheduler.to_try() < before

    def _evict(self, victim: QueuedWorkload, entry: CycleEntry, reason: PreemptionReason) -> None:
        queue = self.state.queue_of(victim).name
        self.found.evictions.append(
            WorkloadEviction(victim.name, entry.workload.name, reason, queue)
        )
        if victim.admission is not None:
            self.before.setdefault(victim.name, (victim, victim.admission))
        self.leaving[victim.name] = victim

    def _release(self) -> None:
        """The victims leave, after all other workloads were tried."""
        for victim in self.leaving.values():
            self.scheduler.release(victim)
            if victim.queue not in self.known:
                self.state.queue_of(victim).pending.remove(victim)
        self.leaving.clear()


def _trees(objects: Iterable[Object]) -> dict[str, str]:
    """The name of the topmost cohort of each ClusterQueue and Cohort, or a name of its own."""
    parents = {
        it.name: str(_spec(it).get("parentName") or _spec(it).get("parent") or "")
        for it in objects
        if it.kind == "Cohort"
    }

    def root(name: str) -> str:
        seen = {name}
        while parents.get(name) and parents[name] not in seen:
            name = parents[name]
            seen.add(name)
        return f"cohort {name}"

    found = {}
    for it in objects:
        if it.kind == "ClusterQueue":
            cohort = str(_spec(it).get("cohortName") or _spec(it).get("cohort") or "")
            found[it.name] = root(cohort) if cohort else f"queue {it.name}"
    return found


def _matters(
    it: Object, inside: Collection[str], namespaces: Collection[str], namespace: str
) -> bool:
    if it.kind == "ClusterQueue":
        return it.name in inside
    if it.kind == "LocalQueue":
        return _spec(it).get("clusterQueue") in inside or it.namespace == namespace
    if it.kind == "Namespace":
        return it.name in namespaces
    return True


def _spec(it: Object) -> Mapping[str, object]:
    found = it.data.get("spec")
    return found if isinstance(found, dict) else {}


def _with_cluster(settings: Settings, cluster: Cluster) -> Settings:
    return structs.replace(settings, cluster=cluster)


def policy_objects(cluster: Cluster) -> tuple[Object, ...]:
    """The objects that decide about workloads."""
    return tuple(it for it in cluster.objects if it.kind in _POLICY)
