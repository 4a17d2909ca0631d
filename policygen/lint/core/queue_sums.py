"""Workloads that one queue cannot run together, although it has room for each of them.

Workloads whose pods do not end count together. Of jobs, each alone counts beside these. Source: pkg/cache/scheduler/resource_node.go of Kueue 0.19.2;
pkg/scheduler/plugins/capacity/capacity.go of Volcano 1.14.1.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.amounts import total
from policygen.core.finding import At
from policygen.kubernetes import priorities
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.kueue_jobs import ELASTIC, FRAMEWORKS, MIN_PARALLELISM, PRIORITY
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.core.autoscalers import autoscaler_of
from policygen.lint.core.pod_demands import fits_no_node
from policygen.lint.core.queue_rooms import RESTARTED, QueueRoom, queue_rooms
from policygen.lint.core.rollouts import rollout
from policygen.lint.kueue.cohorts import CohortNode, forest
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import PodRequest, refused, requests_by_workload
from policygen.lint.kueue.flavor_fits import refusal
from policygen.lint.kueue.strict_queues import blocking
from policygen.lint.rule import Facts
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings as volcano_settings
from policygen.lint.volcano.gangs import gangs

_ZERO = Fraction(0)
_GROUPS = ("", "apps", "argoproj.io", "leaderworkerset.x-k8s.io")
"""The API groups of these kinds."""
LASTING = (*RESTARTED, "RayCluster", "RayService")
"""Kinds whose pods run until the object is deleted."""
READS_OF_JOBS = ("PriorityClass", "WorkloadPriorityClass", "volcano-scheduler.conf")
"""The kinds that decide which jobs may preempt."""
_ANY = frozenset({""})
"""The only flavor of Volcano's queues."""


class QueueMember(Struct, frozen=True, eq=False):
    """A workload, and what all its pods request."""

    workload: Workload
    pods: int
    amounts: Mapping[str, Fraction]
    flavors: Mapping[str, frozenset[str]]
    """The flavors that it can use, by resource."""


class ExceededSum(Struct, frozen=True, eq=False):
    """An amount of workloads together, and what their queue has."""

    resource: str
    requested: Fraction
    have: Fraction


class QueueExcess(Struct, frozen=True, eq=False):
    """Workloads that request more than their queues can have together."""

    members: tuple[QueueMember, ...]
    sums: tuple[ExceededSum, ...]
    queue: str
    """The queue or cohort, as in messages."""
    at: At | None
    """The place of its limit; None: no object declares the cohort."""
    limit: str
    """The fields to raise."""
    jobs: tuple[QueueMember, ...] = ()
    """Jobs of which each exceeds it together with `members`; without jobs, `members` alone exceed it."""
    blocks: str = ""
    """What the jobs do to those behind them, as the end of a sentence."""

    def with_other(self, other: "QueueExcess") -> "QueueExcess":
        """Both as one, with each workload once."""
        members = dict.fromkeys((*self.members, *other.members))
        jobs = dict.fromkeys((*self.jobs, *other.jobs))
        sums = (*self.sums, *other.sums)
        return replace(self, members=tuple(members), jobs=tuple(jobs), sums=sums)


class _Place(Struct, eq=False):
    """A queue or cohort, and the workloads of all queues below it."""

    name: str
    at: At | None
    limit: str
    have: Mapping[tuple[str, str], Fraction]
    """By flavor and resource; of other resources it has no limit."""
    members: list[QueueMember]
    above: "_Place | None"
    jobs: list[QueueMember] = []
    """Jobs of this queue that preempt none of its workloads, and start with all their pods."""
    blocks: str = ""
    """What a job that is never admitted does to those behind it."""

    def limits(self, flavors: Iterable[str], resource: str) -> Fraction | None:
        """The most of a resource in these flavors together; None: no limit."""
        found = [self.have.get((it, resource)) for it in flavors]
        known = [it for it in found if it is not None]
        return sum(known, _ZERO) if len(known) == len(found) else None


def queue_sums(facts: Facts) -> tuple[QueueExcess, ...]:
    """What exceeds, each at the lowest queue or cohort; use it with `facts.derive` and Need.WHOLE."""
    return tuple(excess for places in facts.derive(_places) for excess in _exceeding(places))


def members_beside(facts: Facts, room: QueueRoom) -> Sequence[QueueMember]:
    """The other workloads of a queue whose pods do not end, and that certainly use the same quota of the resource of a room."""
    members = (it for place in _places_of(facts, room) for it in place.members)
    own = _flavors_of_room(facts, room)
    return [
        it for it in members if it.workload is not room.workload if _uses(it, room.resource, own)
    ]


class FullQueue(Struct, frozen=True, eq=False):
    """A queue without room for a new pod of a Deployment."""

    room: QueueRoom
    pods: int
    """The pods of the Deployment, all of which run."""
    others: Sequence[QueueMember]
    """The workloads that use the rest of the queue; none if the Deployment alone fills it."""


def full_queues(facts: Facts) -> Sequence[FullQueue]:
    """The queues where the update of a Deployment waits for a new pod; use it with `facts.derive`."""
    found = []
    for room in facts.derive(queue_rooms):
        update = rollout(facts.cluster, room.workload)
        if update is None or not update.strict or update.replicas > room.pods:
            continue
        others: Sequence[QueueMember] = ()
        if update.replicas < room.pods:
            others = [
                it
                for it in members_beside(facts, room)
                if not _may_be_preempted(facts, it.workload, room)
            ]
            used = sum((it.amounts[room.resource] for it in others), _ZERO)
            if (room.most - used) // room.each != update.replicas:
                continue
        found.append(FullQueue(room, update.replicas, others))
    return found


def _may_be_preempted(facts: Facts, other: Workload, room: QueueRoom) -> bool:
    """Whether a new pod may preempt one of another workload of its queue, or this is not known."""
    if queues.to_volcano(room.template):
        return _preempts_in_volcano(facts, room.workload, _pod_priority(facts.cluster, other))
    queue = next((it for it in facts.cluster.cluster_queues if str(it) == room.queue), None)
    return queue is None or _preempts(facts, queue, room.workload, kueue_priority(facts, other))


def members_of_queues(facts: Facts) -> Mapping[str, Sequence[QueueMember]]:
    """The workloads whose pods do not end, by the name of their ClusterQueue or cohort in messages; use it with `facts.derive`."""
    of_kueue, _ = facts.derive(_places)
    return {it.name: it.members for it in of_kueue}


def largest_job(facts: Facts, room: QueueRoom) -> QueueMember | None:
    """The job that needs most of the resource of a room, and certainly uses the same quota; None: no job does.

    Jobs that other rules report, or that can use several flavors, do not count.
    """
    name, own = room.resource, _flavors_of_room(facts, room)
    jobs = [
        it
        for place in _places_of(facts, room)
        for it in place.jobs
        if _uses(it, name, own) and len(it.flavors[name]) == 1 and not _exceeds_alone(place, it)
    ]
    return max(jobs, key=lambda it: it.amounts[name], default=None)


def _uses(it: QueueMember, resource: str, flavors: Sequence[frozenset[str]]) -> bool:
    """Whether a workload certainly uses the quota of one of these sets of flavors."""
    return bool(it.amounts.get(resource)) and any(it.flavors[resource] <= own for own in flavors)


def _flavors_of_room(facts: Facts, room: QueueRoom) -> Sequence[frozenset[str]]:
    """The flavors that the workload of a room can use for its resource, as often as its queue lists it."""
    return [
        it.flavors[room.resource]
        for place in _places_of(facts, room)
        for it in place.members
        if it.workload is room.workload and it.amounts.get(room.resource)
    ]


def _places_of(facts: Facts, room: QueueRoom) -> Iterator["_Place"]:
    for places in facts.derive(_places):
        yield from (it for it in places if it.name == room.queue)


def _places(facts: Facts) -> tuple[Sequence[_Place], Sequence[_Place]]:
    return _of_kueue(facts), _of_volcano(facts)


def _exceeding(places: Sequence[_Place]) -> Iterator[QueueExcess]:
    """`places` are in any order. Above a place that exceeds, its workloads do not count."""
    # Other rules report a workload that alone requests too much.
    reported = {id(it) for place in places for it in place.members if _exceeds_alone(place, it)}
    for place in sorted(places, key=_depth, reverse=True):
        for found in _merged(_of_place(place, reported)):
            yield found
            reported.update(map(id, found.members))
    for place in places:
        yield from _merged(_of_jobs(place, reported))


def _merged(found: Iterable[QueueExcess]) -> Sequence[QueueExcess]:
    """One for workloads of which several resources exceed, with the first sum of each resource."""
    merged: list[QueueExcess] = []
    for it in found:
        own = {*it.members, *it.jobs}
        near = [
            i for i, other in enumerate(merged) if not own.isdisjoint((*other.members, *other.jobs))
        ]
        if not near:
            merged.append(it)
        elif it.sums[0].resource not in {one.resource for i in near for one in merged[i].sums}:
            merged[near[0]] = merged[near[0]].with_other(it)
    return merged


def _exceeds_alone(place: _Place, it: QueueMember) -> bool:
    return any(
        (have := place.limits(it.flavors[name], name)) is not None and amount > have
        for name, amount in it.amounts.items()
    )


def _depth(place: _Place) -> int:
    return sum(1 for _ in _upwards(place))


def _upwards(place: _Place) -> Iterator[_Place]:
    """The place and all above it, each once: Queues of Volcano can be in a cycle."""
    seen: set[int] = set()
    at: _Place | None = place
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.above


def _of_place(place: _Place, reported: Container[int]) -> Iterator[QueueExcess]:
    """The resources of which the workloads request too much, extended ones first."""
    members = [it for it in place.members if id(it) not in reported]
    names = {name for it in members for name in it.amounts}
    for name in sorted(names, key=_native_last):
        asking = [it for it in members if it.amounts.get(name)]
        sets = {it.flavors[name] for it in asking}
        sets.add(frozenset().union(*sets))
        for flavors in sorted(sets, key=lambda it: (len(it), sorted(it))):
            have = place.limits(flavors, name)
            inside = [it for it in asking if it.flavors[name] <= flavors]
            requested = sum((it.amounts[name] for it in inside), _ZERO)
            if have is not None and requested > have and len(inside) > 1:
                exceeded = ExceededSum(name, requested, have)
                yield QueueExcess(tuple(inside), (exceeded,), place.name, place.at, place.limit)


def _of_jobs(place: _Place, reported: Container[int]) -> Iterator[QueueExcess]:
    """The jobs that have no room while the other workloads of their queue run, by resource."""
    members = [it for it in place.members if id(it) not in reported]
    jobs = [it for it in place.jobs if members and not _exceeds_alone(place, it)]
    for name in sorted({name for it in jobs for name in it.amounts}, key=_native_last):
        for flavors in {it.flavors[name]: None for it in jobs if it.amounts.get(name)}:
            have = place.limits(flavors, name)
            beside = [it for it in members if it.amounts.get(name) and it.flavors[name] <= flavors]
            used = sum((it.amounts[name] for it in beside), _ZERO)
            waiting = tuple(
                it
                for it in jobs
                if have is not None and used and it.flavors.get(name) == flavors
                if used + it.amounts.get(name, _ZERO) > have
            )
            if have is not None and waiting:
                sums = (ExceededSum(name, used, have),)
                yield QueueExcess(
                    tuple(beside),
                    sums,
                    place.name,
                    place.at,
                    place.limit,
                    waiting,
                    place.blocks,
                )


def _native_last(resource: str) -> tuple[bool, str]:
    return "/" not in resource, resource


def _of_kueue(facts: Facts) -> Sequence[_Place]:
    trees, rules = facts.cluster.derive(forest), settings(facts)
    known: dict[str, _Place] = {}

    def place(node: CohortNode) -> _Place:
        """The place of a ClusterQueue or cohort; two of one name differ by their kind."""
        key = f"{'queue' if node.queue else 'cohort'} {node.name}"
        if key not in known:
            entry = node.queue or node.entry
            above = None if node.parent is None else place(node.parent)
            at = None if entry is None else entry.at.to("spec", "resourceGroups")
            name = str(entry) if entry is not None else f"cohort {node.name}"
            fields = "the quota or borrowingLimit" if node.queue else "the quota of its queues"
            cells = {
                it: node.ceiling(it) + node.kept_below(it) for it in {**node.subtree, **node.quotas}
            }
            known[key] = _Place(name, at, fields, cells, [], above)
            known[key].blocks = blocking(node.queue) if node.queue else ""
        return known[key]

    jobs: list[list[PodRequest]] = []
    for requests in requests_by_workload(facts):
        node = trees.queues[requests[0].queue.name]
        if requests[0].workload.kind not in LASTING:
            jobs.append(requests)
        elif not node.cyclic and (member := _member(facts, requests, rules)):
            for at in _upwards(place(node)):
                at.members.append(member)
    _add_jobs(facts, jobs, known, rules)
    return [*known.values()]


def _add_jobs(
    facts: Facts, jobs: Iterable[list[PodRequest]], known: Mapping[str, _Place], rules: Settings
) -> None:
    """Add jobs to the places of their ClusterQueues."""
    lowest: dict[str, int | None] = {}
    for requests in jobs:
        queue = requests[0].queue
        if (beside := known.get(f"queue {queue.name}")) is None:
            continue  # nothing in it runs until it is deleted
        if queue.name not in lowest:
            lowest[queue.name] = _lowest(
                kueue_priority(facts, it.workload) for it in beside.members
            )
        job = _member(facts, requests, rules)
        if job is not None and not _preempts(facts, queue, job.workload, lowest[queue.name]):
            beside.jobs.append(job)


def _member(facts: Facts, requests: Sequence[PodRequest], rules: Settings) -> QueueMember | None:
    """What a workload requests of its queue; None if it does not count."""
    workload = requests[0].workload
    framework = FRAMEWORKS.get((workload.object.group, workload.kind))
    if workload.kind not in LASTING and not _starts_complete(facts, workload):
        return None
    if any(refused(facts, it) for it in requests):
        return None  # request-not-covered reports it
    if rules.entry is not None and framework not in rules.frameworks:
        return None  # framework-not-enabled reports it
    if any(fits_no_node(facts, it.template) for it in requests):
        return None  # pod-fits-no-node reports it
    pods = _pods(facts, workload, [it.template for it in requests])
    if pods is None:
        return None
    flavors = _flavors(facts, requests)
    amounts = total(
        {name: amount * count for name, amount in it.counted.items() if name in flavors}
        for it, count in zip(requests, pods, strict=True)
    )
    return QueueMember(workload, sum(pods), amounts, flavors)


def _starts_complete(facts: Facts, workload: Workload) -> bool:
    """Whether it is a job in manifests all pods of which Kueue admits together."""
    return (
        facts.cluster.seen is None  # whether a job on a cluster has ended is not known
        and workload.kind != "Pod"
        and workload.annotations.keys().isdisjoint((MIN_PARALLELISM, ELASTIC))
    )


def _lowest(found: Iterable[int | None]) -> int | None:
    """The lowest of some priorities; None if one of them is not known."""
    values = list(found)
    return None if None in values else min(it for it in values if it is not None)


def _preempts(
    facts: Facts, queue: Entry[ClusterQueueView], job: Workload, lowest: int | None
) -> bool:
    """Whether a job may preempt a workload of its queue, or this is not known.

    `lowest` is the lowest priority of these workloads.
    """
    preemption = queue.fields.preemption
    policy = preemption.within_cluster_queue if preemption else "Never"
    if policy == "Never":
        return False
    own = kueue_priority(facts, job)
    if own is None or lowest is None:
        return True
    return own > lowest or (own == lowest and policy != "LowerPriority")


def kueue_priority(facts: Facts, workload: Workload) -> int | None:
    """The priority that Kueue uses; None if its class does not exist.

    Source: pkg/util/priority of Kueue 0.19.2.
    """
    if name := workload.labels.get(PRIORITY):
        found = facts.cluster.workload_priority_classes.get(name)
        return found.fields.value if found is not None else None
    return priorities.of_class(facts.cluster, workload.templates[0].spec.priority_class_name or "")


def _flavors(facts: Facts, requests: Sequence[PodRequest]) -> dict[str, frozenset[str]]:
    """The flavors that a workload can use, by resource; unknown flavors count."""
    found: dict[str, frozenset[str]] = {}
    for group in requests[0].queue.fields.resource_groups:
        known = [(it.name, facts.cluster.flavors.get(it.name)) for it in group.flavors]
        usable = frozenset(
            name
            for name, flavor in known
            if flavor is None
            or any(not refusal(flavor.fields, it.template.spec) for it in requests)
        )
        found |= dict.fromkeys(group.covered_resources, usable)
    return found


def _of_volcano(facts: Facts) -> Sequence[_Place]:
    cluster = facts.cluster
    known: dict[str, _Place] = {}

    def place(queue: Entry[QueueView]) -> _Place:
        if queue.name not in known:
            above = next(queues.ancestors(cluster, queue), None)
            # Of cpu and memory, 0 is no limit.
            have = {
                ("", name): amount
                for name, amount in queue.fields.capability.items()
                if amount > 0 or name not in ("cpu", "memory")
            }
            at = queue.at.to("spec", "capability")
            known[queue.name] = _Place(str(queue), at, "the capability", have, [], None)
            known[queue.name].above = None if above is None else place(above)
        return known[queue.name]

    for workload in cluster.workloads_of(*_GROUPS):
        if workload.kind not in RESTARTED or not all(map(queues.to_volcano, workload.templates)):
            continue
        names = {queues.queue_of_pods(cluster, workload, it) for it in workload.templates}
        queue = cluster.queues.get(next(iter(names))) if len(names) == 1 else None
        pods = _pods(facts, workload, workload.templates)
        if queue is None or pods is None:
            continue
        if any(fits_no_node(facts, it) for it in workload.templates):
            continue  # pods that do not run use nothing of the queue
        amounts = total(
            {name: amount * count for name, amount in it.spec.requests.items()}
            for it, count in zip(workload.templates, pods, strict=True)
        )
        member = QueueMember(workload, sum(pods), amounts, dict.fromkeys(amounts, _ANY))
        for at in _upwards(place(queue)):
            at.members.append(member)
    if known and cluster.seen is None:
        _add_gangs(facts, known)
    return [*known.values()]


def _add_gangs(facts: Facts, known: Mapping[str, _Place]) -> None:
    """Add Jobs of Volcano to the places of their Queues."""
    cluster = facts.cluster
    jobs_of_volcano = {it.at: it for it in cluster.workloads_of(VOLCANO_BATCH)}
    lowest = {
        name: _lowest(_pod_priority(cluster, it.workload) for it in place.members)
        for name, place in known.items()
        if place.members
    }
    for gang in cluster.derive(gangs):
        beside, job = known.get(gang.queue), jobs_of_volcano.get(gang.root)
        if beside is None or job is None:
            continue
        if not beside.members or not _preempts_in_volcano(facts, job, lowest[gang.queue]):
            flavors = dict.fromkeys(gang.amounts, _ANY)
            beside.jobs.append(QueueMember(job, gang.pods, gang.amounts, flavors))


def _pod_priority(cluster: Cluster, workload: Workload) -> int | None:
    """The priority of the pods of a workload; None if its class does not exist."""
    return priorities.of_class(cluster, workload.templates[0].spec.priority_class_name)


def _preempts_in_volcano(facts: Facts, job: Workload, lowest: int | None) -> bool:
    """Whether a Job may preempt a workload of its queue, or this is not known.

    `lowest` is the lowest priority of these workloads.
    Source: pkg/scheduler/actions/preempt/preempt.go and plugins/priority of Volcano 1.14.1.
    """
    configuration = volcano_settings(facts)
    if configuration is None or {"preempt", "gangpreempt"}.isdisjoint(configuration.actions):
        return False  # the default configuration has no such action
    name = job.spec.get("priorityClassName") or job.templates[0].spec.priority_class_name
    own = priorities.of_class(facts.cluster, str(name or ""))
    return own is None or lowest is None or lowest < own


def _pods(
    facts: Facts, workload: Workload, templates: Iterable[PodTemplate]
) -> Sequence[int] | None:
    """The pods of each template, of which an autoscaler raises the number; None: unknown."""
    scaled = autoscaler_of(facts.cluster, workload)
    counts = [it.replicas for it in templates]
    known = [it if scaled is None else scaled.pods(it) for it in counts if it is not None]
    return known if len(known) == len(counts) else None
