"""Sentences about why a workload waits, and about the changes that would let it run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from policygen.core import amounts, quantity
from policygen.core.durations import duration
from policygen.core.finding import dotted
from policygen.core.quoting import counted, listed, some, times
from policygen.kubernetes.core import TaintView, TolerationView
from policygen.simulate.result import JobResult
from policygen.simulate.why.causes import (
    BY_QUEUE_OF_VOLCANO,
    Cause,
    CauseKind,
    FlavorObstacle,
    NeverPlaced,
    ObstacleKind,
    QuotaHolder,
)
from policygen.simulate.why.changes import (
    AffinityRemoved,
    Change,
    ConstraintRemoved,
    FieldChange,
    ObjectAdded,
    PodsChange,
    PodSetChange,
    PriorityChange,
    QueueChange,
    RequestChange,
    SelectorChange,
    SpecChange,
    SpecEdit,
    TolerationAdded,
)
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.history import Preempted
from policygen.simulate.why.remedy import Cost
from policygen.simulate.why.start import Start

WITH_MESSAGE = frozenset(
    {
        CauseKind.BACKOFF,
        CauseKind.CHECK_PENDING,
        CauseKind.NOT_MANAGED,
        CauseKind.PODS_REFUSED,
        CauseKind.UNKNOWN,
        CauseKind.VOLCANO,
        CauseKind.VOLCANO_QUEUE_CLOSED,
        CauseKind.VOLCANO_QUEUE_MISSING,
        CauseKind.VOLCANO_TREE,
    }
)
"""Causes whose sentences contain the message."""
PLACING = BY_QUEUE_OF_VOLCANO | {
    CauseKind.NO_NODES,
    CauseKind.PODS_REFUSED,
    CauseKind.SCHEDULER_UNKNOWN,
}
"""Causes that Kueue does not decide about."""
_MISSING = {
    CauseKind.CHECK_MISSING: "AdmissionCheck",
    CauseKind.FLAVOR_MISSING: "ResourceFlavor",
    CauseKind.TOPOLOGY_MISSING: "Topology",
}
"""The kinds of missing objects."""
_QUOTA = frozenset(
    {
        CauseKind.ABOVE_MAXIMUM,
        CauseKind.BORROWING_LIMIT,
        CauseKind.MAY_NOT_PREEMPT,
        CauseKind.NOT_LENT,
        CauseKind.NO_FREE_QUOTA,
    }
)
"""Causes whose first sentence has what is requested, and what is free."""
TITLES: Mapping[CauseKind, str] = {
    CauseKind.ADMITTED: "runs",
    CauseKind.ADMISSIBLE: "can run now",
    CauseKind.NOT_MANAGED: "Kueue does not manage it",
    CauseKind.QUEUE_MISSING: "its LocalQueue does not exist",
    CauseKind.LOCAL_QUEUE_STOPPED: "its LocalQueue is stopped",
    CauseKind.CLUSTER_QUEUE_MISSING: "its ClusterQueue does not exist",
    CauseKind.CLUSTER_QUEUE_STOPPED: "its ClusterQueue is stopped",
    CauseKind.FLAVOR_MISSING: "a ResourceFlavor of its queue does not exist",
    CauseKind.CHECK_MISSING: "an AdmissionCheck of its queue does not exist",
    CauseKind.TOPOLOGY_MISSING: "a Topology of its queue does not exist",
    CauseKind.TOPOLOGY_FULL: "no domain of its topology has room",
    CauseKind.TOPOLOGY_TOO_SMALL: "no domain of its topology is large enough",
    CauseKind.CHECK_INACTIVE: "an AdmissionCheck of its queue is not active",
    CauseKind.COHORT_CYCLE: "the cohorts of its queue are their own parents",
    CauseKind.NAMESPACE_NOT_SELECTED: "its ClusterQueue does not select its namespace",
    CauseKind.DEACTIVATED: "it is deactivated",
    CauseKind.REFUSED: "its requests are not valid",
    CauseKind.NOT_COVERED: "its queue has no quota for a resource",
    CauseKind.FLAVORS_REFUSE: "no flavor matches its pods",
    CauseKind.ABOVE_MAXIMUM: "it requests more than its queue can ever use",
    CauseKind.BORROWING_LIMIT: "its queue may not borrow so much",
    CauseKind.NOT_LENT: "other queues do not lend their free quota",
    CauseKind.NO_FREE_QUOTA: "other workloads use the quota",
    CauseKind.MAY_NOT_PREEMPT: "its queue may not preempt the workloads that use the quota",
    CauseKind.QUEUE_HEAD: "an earlier workload of its queue waits",
    CauseKind.ANOTHER_FIRST: "other workloads are admitted first",
    CauseKind.CHECK_PENDING: "an admission check is not ready",
    CauseKind.BACKOFF: "Kueue queues it again later",
    CauseKind.LIVELOCK: "it and others preempt each other again and again",
    CauseKind.NO_NODES: "no node has room for all its pods",
    CauseKind.SCHEDULER_UNKNOWN: "its scheduler is not known",
    CauseKind.GATED: "a scheduling gate holds its pods",
    CauseKind.PODS_REFUSED: "its pods are refused",
    CauseKind.VOLCANO_QUEUE_MISSING: "its queue of Volcano does not exist",
    CauseKind.VOLCANO_QUEUE_CLOSED: "its queue of Volcano is closed",
    CauseKind.VOLCANO_TREE: "Volcano's queues are not valid",
    CauseKind.VOLCANO_LIMIT: "the limit of its queue is used",
    CauseKind.VOLCANO_ABOVE_LIMIT: "it requests more than its queue can ever use",
    CauseKind.VOLCANO_OVERCOMMIT: "other jobs already request all that Volcano enqueues for",
    CauseKind.GANG_INCOMPLETE: "it has fewer pods than must start together",
    CauseKind.VOLCANO: "Volcano does not start it",
    CauseKind.UNKNOWN: "the reason is not known",
}
"""Causes in the first line about a workload."""
_RULES = {
    "InClusterQueue": "withinClusterQueue: it has a higher priority in the same ClusterQueue",
    "InCohortReclamation": "reclaimWithinCohort: it took back quota of its own ClusterQueue",
    "InCohortFairSharing": "fair sharing: its share of the cohort was smaller",
    "InCohortReclaimWhileBorrowing": "borrowWithinCohort: it has a higher priority in the cohort",
    "PodPriority": "kube-scheduler: its pods have a higher priority",
    "preempt": "Volcano's action preempt: a job of the same queue",
    "reclaim": "Volcano's action reclaim: a job of another queue",
}
"""The rule of each reason of a preemption."""


def amount(resource: str, count: int) -> str:
    """An amount for people: `16 GPUs`, `12 cores`, `64 GiB of memory`."""
    return amounts.with_gpus(
        resource, Fraction(count, 1000) if resource == "cpu" else Fraction(count)
    )


def bare_amount(resource: str, count: int) -> str:
    """An amount without the name of the resource: `10`, `12 cores`."""
    return amounts.readable(
        resource, Fraction(count, 1000) if resource == "cpu" else Fraction(count)
    )


def _are(amount_: str) -> str:
    """The amount with a verb: `1 is`, `10 are`, `1 GiB is`."""
    return f"{amount_} {'is' if amount_.split(maxsplit=1)[0] == '1' else 'are'}"


def names(found: Sequence[str], most: int = 3) -> str:
    """Names in a sentence: `a, b and 3 others`."""
    return some(found, "other", most) if found else ""


def _objects(kind: str, found: Sequence[str]) -> str:
    """Objects of a kind in a sentence: `AdmissionChecks a and b`."""
    return f"{kind}{'' if len(found) == 1 else 's'} {names(found)}"


def _ended(sentence: str) -> str:
    """The sentence with a period, unless it ends with a mark."""
    return sentence if sentence.endswith(("?", ".")) else f"{sentence}."


def headline(it: Explanation) -> str:
    """One line: the workload, and whether it waits."""
    team = f" of team {it.team}" if it.team and it.team != it.name.partition("/")[0] else ""
    name = it.name.removesuffix(f" ({it.kind})")
    waits = " waits:" if it.waits else ""
    return f"{it.kind} {name}{team}{waits} {TITLES[it.cause.kind]}"


def group(found: Sequence[Explanation]) -> str:
    """One line: how many workloads wait for the same reason."""
    cause = found[0].cause
    where = f" ({cause.queue_kind} {cause.queue})" if cause.queue else ""
    return f"{counted(len(found), 'workload')} wait{where}: {TITLES[cause.kind]}"


def group_parts(found: Sequence[Explanation]) -> Iterator[str]:
    """Which workloads these are, and what they request together."""
    yield f"They are {names([it.name for it in found])}."
    teams = list(dict.fromkeys(it.team for it in found if it.team))
    if len(teams) > 1:
        yield f"Their teams are {names(teams)}."
    first = next(iter(found[0].cause.obstacles), None)
    if first is not None and first.resource:
        asked = sum(
            one.asked
            for it in found
            for one in it.cause.obstacles
            if (one.flavor, one.resource) == (first.flavor, first.resource)
        )
        total, free = amount(first.resource, asked), bare_amount(first.resource, first.free)
        of = f" of flavor {first.flavor}" if first.flavor else ""
        yield f"Together they request {total}{of}, and {_are(free)} free."


def reasons(it: Explanation) -> Iterator[str]:
    """Why it waits, in plain words."""
    if it.cause.never is not None:
        yield _never(it.cause.never)
    yield from _SENTENCES[it.cause.kind](it, it.cause)


def brief(job: JobResult, sentences: int | None = None) -> str:
    """Why a job of a simulation waits at the end, in a line; empty: it does not wait."""
    cause = job.cause
    if cause is None:
        return ""
    if cause.kind is CauseKind.ADMISSIBLE:
        return "Its quota is free when the simulation ends. Kueue tries it again within a second."
    found = list(reasons(Explanation(job.name, job.kind, job.team, cause)))
    if cause.kind is CauseKind.NO_NODES and job.evicted:
        often = times(job.evicted)
        found.insert(0, f"Kueue evicted it {often}, because its pods were not ready in time.")
    return " ".join(found[: 1 if cause.kind in _QUOTA else sentences])


def _never(it: NeverPlaced) -> str:
    near = it.nearest
    if near is not None:
        largest = bare_amount(near.resource, near.free)
        return f"It never starts: no node has {amount(near.resource, near.asked)} (the largest has {largest})."
    if it.alone:
        return (
            f"It never starts: all nodes together have room for {it.placed} of its {it.pods} pods."
        )
    return "It never starts: no node takes its pods, even without other pods."


def _admitted(_: Explanation, __: Cause) -> Iterator[str]:
    yield "It has its quota, and nothing that policygen knows keeps its pods from running."


def _admissible(it: Explanation, _: Cause) -> Iterator[str]:
    flavors = f" in flavor {names(it.admission)}" if it.admission else ""
    if flavors:
        yield f"Nothing keeps Kueue from admitting it: its quota{flavors} is free."
    else:
        yield "Nothing keeps its scheduler from starting it."


def _not_managed(_: Explanation, cause: Cause) -> Iterator[str]:
    yield _ended(f"Kueue creates no Workload for it: {cause.message}")


def _queue_missing(it: Explanation, cause: Cause) -> Iterator[str]:
    yield f"{cause.about} does not exist."
    namespace = it.name.partition("/")[0]
    if cause.names:
        yield f"Namespace {namespace} has {_objects('LocalQueue', cause.names)}."
    else:
        yield f"Namespace {namespace} has no LocalQueue."


def _stopped(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"{cause.about} is stopped (stopPolicy), so it admits no workload."


def _cluster_queue_missing(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"{cause.about} names a ClusterQueue that does not exist."
    if cause.names:
        yield f"ClusterQueues are {names(cause.names)}."


def _object_missing(_: Explanation, cause: Cause) -> Iterator[str]:
    what = _objects(_MISSING[cause.kind], cause.names)
    does = "does" if len(cause.names) == 1 else "do"
    yield f"{cause.about} is inactive: {what} {does} not exist."


def _check_inactive(_: Explanation, cause: Cause) -> Iterator[str]:
    checks = _objects("AdmissionCheck", cause.names)
    yield f"{cause.about} is inactive: no controller reports {checks} as active."


def _cohort_cycle(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"{cause.about} is inactive: its cohorts are their own parents ({names(cause.names)})."


def _not_selected(it: Explanation, cause: Cause) -> Iterator[str]:
    namespace = it.name.partition("/")[0]
    yield f"The namespaceSelector of {cause.about} does not select namespace {namespace}."


def _deactivated(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"{cause.about} is deactivated: its field active is false."


def _refused(_: Explanation, __: Cause) -> Iterator[str]:
    yield "Its requests are above its limits, or outside of a LimitRange of its namespace."


def _not_covered(_: Explanation, cause: Cause) -> Iterator[str]:
    missing = dict.fromkeys(
        one.resource for one in cause.obstacles if one.kind is ObstacleKind.NOT_COVERED
    )
    yield f"It requests {names(list(missing))}, and {cause.about} has no quota for it."


def _flavors_refuse(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"No flavor of {cause.about} matches its pods."
    for one in cause.obstacles:
        match one.kind:
            case ObstacleKind.TAINT:
                taint = "" if one.taint is None else f" {_taint(one.taint)}"
                yield f"Its pods do not tolerate the taint{taint} of flavor {one.flavor}."
            case ObstacleKind.AFFINITY:
                yield (
                    f"Its node selector or affinity does not match the labels of flavor {one.flavor}."
                )
            case ObstacleKind.MISSING:
                yield f"ResourceFlavor {one.flavor} does not exist."
            case ObstacleKind.TOPOLOGY_REFUSED:
                yield f"Flavor {one.flavor} does not have the topology that its pods request."
            case _:
                pass


def _quota(_: Explanation, cause: Cause) -> Iterator[str]:
    short = [it for it in cause.obstacles if it.kind is not ObstacleKind.NOT_COVERED]
    if not short:
        return
    for one in short[:1]:
        yield from _numbers(cause, one)
    for one in short[1:]:
        yield from _beside(one, short[0])


def _numbers(cause: Cause, one: FlavorObstacle) -> Iterator[str]:
    asked = amount(one.resource, one.asked)
    free = bare_amount(one.resource, one.free)
    queue = cause.queue
    if one.kind is ObstacleKind.ABOVE_MAXIMUM:
        most = bare_amount(one.resource, one.most)
        yield f"It requests {asked} of flavor {one.flavor}, and ClusterQueue {queue} can use at most {most}."
        yield f"It never starts as it is, and {_are(free)} free now."
    else:
        yield f"It requests {asked} of flavor {one.flavor}, and {_are(free)} free for ClusterQueue {queue}."
    quota = bare_amount(one.resource, one.nominal)
    used = bare_amount(one.resource, one.used)
    yield f"The quota of ClusterQueue {queue} is {quota}, and it uses {used}."
    for holder in one.holders:
        yield from _holder(one, holder, queue)
    if cause.kind is CauseKind.BORROWING_LIMIT:
        yield "More is free in its cohort, but a borrowingLimit keeps it from borrowing that much."
    if cause.kind is CauseKind.NOT_LENT:
        idle = bare_amount(one.resource, one.idle)
        yield f"Other queues have {idle} free that their lendingLimit keeps for themselves."
    if cause.kind is CauseKind.MAY_NOT_PREEMPT:
        yield (
            f"Its queue has the quota, but may not take it back: reclaimWithinCohort is "
            f"{cause.reclaim}, withinClusterQueue is {cause.within}."
        )


def _holder(one: FlavorObstacle, holder: QuotaHolder, own: str) -> Iterator[str]:
    workloads = f" ({names(holder.workloads)})" if holder.workloads else ""
    used = bare_amount(one.resource, holder.used)
    if holder.borrowed:
        borrowed = bare_amount(one.resource, holder.borrowed)
        yield f"ClusterQueue {holder.queue} uses {used}, and borrows {borrowed} of them{workloads}."
    elif holder.queue != own:
        yield f"ClusterQueue {holder.queue} uses {used} of its own quota{workloads}."
    elif holder.workloads:
        are = "workload is" if len(holder.workloads) == 1 else "workloads are"
        yield f"In ClusterQueue {own}, the largest {are} {names(holder.workloads)}."


def _beside(one: FlavorObstacle, first: FlavorObstacle) -> Iterator[str]:
    match one.kind:
        case ObstacleKind.TAINT:
            yield f"Its pods do not tolerate the taint of flavor {one.flavor}."
        case ObstacleKind.TOPOLOGY_REFUSED:
            yield f"Flavor {one.flavor} does not have the topology that its pods request."
        case ObstacleKind.AFFINITY:
            yield f"Its pods do not select the labels of flavor {one.flavor}."
        case ObstacleKind.NO_FREE_QUOTA | ObstacleKind.ABOVE_MAXIMUM:
            if (one.flavor, one.resource) != (first.flavor, first.resource):
                asked = amount(one.resource, one.asked)
                free = bare_amount(one.resource, one.free)
                yield f"Of flavor {one.flavor} it requests {asked}, and {_are(free)} free."
        case _:
            pass


def _topology(_: Explanation, cause: Cause) -> Iterator[str]:
    if cause.kind is CauseKind.TOPOLOGY_TOO_SMALL:
        yield "It never starts as it is: not even an empty domain of its topology has room for its pods."
    else:
        yield "Its quota is free, but no domain of its topology has room for its pods."


def _head(_: Explanation, cause: Cause) -> Iterator[str]:
    verbs = "is before it and waits" if len(cause.names) == 1 else "are before it and wait"
    yield (
        f"{cause.about} is StrictFIFO, and {names(cause.names)} {verbs}, so no later workload is tried."
    )


def _another(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"It would fit, but other workloads of the cohort of {cause.about} are admitted before it."


def _check(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"Its quota is reserved, and it waits for admission checks: {cause.message}."


def _backoff(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"Kueue evicted it, and queues it again at {cause.message}."


def _livelock(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"It and {names(cause.names)} preempt each other again and again."


def _nodes(_: Explanation, cause: Cause) -> Iterator[str]:
    waiting = cause.pods - cause.placed
    if cause.pods == 1:
        yield "Its pod fits on no node."
    else:
        yield f"{waiting} of its {cause.pods} pods {'fits' if waiting == 1 else 'fit'} on no node."
    for one in cause.node_reasons:
        yield f"{counted(one.nodes, 'node')}: {one.reason}."
    near = cause.nearest
    if near is not None:
        asked, free = amount(near.resource, near.asked), bare_amount(near.resource, near.free)
        held = f"; the rest is held by {names(near.holders)}" if near.holders else ""
        yield f"Node {near.node} comes closest: a pod requests {asked}, and {_are(free)} free{held}."


def _scheduler(_: Explanation, cause: Cause) -> Iterator[str]:
    name, *meant = cause.names
    if not meant:
        yield f"policygen does not know scheduler {name}. If no scheduler has this name, its pods never start."
        return
    yield f"No scheduler has the name {name}, so its pods never start, and have no event."
    yield f"Did you mean schedulerName: {meant[0]}?"


def _gated(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"Its pods have the scheduling gate {names(cause.names)}, which its controller must remove."


def _pods_refused(_: Explanation, cause: Cause) -> Iterator[str]:
    yield _ended(f"{cause.about} refuses its pods: {cause.message}")


def _volcano(_: Explanation, cause: Cause) -> Iterator[str]:
    if cause.message:
        yield f"Volcano does not start it: {cause.message}"
    else:
        yield "Volcano schedules it, and nothing that policygen knows keeps Volcano from starting it."


def _volcano_missing(_: Explanation, cause: Cause) -> Iterator[str]:
    meant = f" Did you mean Queue {cause.names[0]}?" if cause.names else ""
    yield f"{cause.about} does not exist.{meant}"


def _volcano_closed(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"{cause.about} is not open (status.state), so it takes no job."


def _volcano_tree(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"The plugin capacity starts no job of any queue: {cause.message}."


def _volcano_limit(_: Explanation, cause: Cause) -> Iterator[str]:
    for one in cause.obstacles:
        asked, free = amount(one.resource, one.asked), bare_amount(one.resource, one.free)
        most, used = bare_amount(one.resource, one.most), bare_amount(one.resource, one.used)
        if cause.kind is CauseKind.VOLCANO_ABOVE_LIMIT:
            yield f"It requests {asked}, and Queue {cause.queue} can use at most {most}."
            yield f"It never starts as it is, and {_are(free)} free now."
        else:
            yield f"It requests {asked}, and {_are(free)} free in Queue {cause.queue}."
            yield f"The limit of Queue {cause.queue} is {most}, and {used} of it are used or reserved."
        for holder in one.holders:
            yield from _volcano_holder(one, holder)


def _volcano_holder(one: FlavorObstacle, holder: QuotaHolder) -> Iterator[str]:
    used = bare_amount(one.resource, holder.used)
    more = f", {bare_amount(one.resource, holder.borrowed)} more than it deserves"
    above = more if holder.borrowed else ""
    yield f"Queue {holder.queue} uses {used}{above} ({names(holder.workloads)})."


def _volcano_overcommit(_: Explanation, cause: Cause) -> Iterator[str]:
    for one in cause.obstacles:
        asked, free = amount(one.resource, one.asked), bare_amount(one.resource, one.free)
        most = bare_amount(one.resource, one.most)
        yield f"Its gang requests {asked}, and Volcano enqueues jobs for {free} more (overcommit)."
        yield f"In all, running and enqueued jobs may request {most}."


def _incomplete(_: Explanation, cause: Cause) -> Iterator[str]:
    for one in cause.obstacles:
        yield f"{one.asked} of its pods must start together (minAvailable), and it has {counted(one.free, 'pod')}."


def _unknown(_: Explanation, cause: Cause) -> Iterator[str]:
    yield _ended(
        f"policygen does not model what decides about it{f': {cause.message}' if cause.message else ''}"
    )


_SENTENCES: Mapping[CauseKind, Callable[[Explanation, Cause], Iterator[str]]] = {
    CauseKind.ADMITTED: _admitted,
    CauseKind.ADMISSIBLE: _admissible,
    CauseKind.NOT_MANAGED: _not_managed,
    CauseKind.QUEUE_MISSING: _queue_missing,
    CauseKind.LOCAL_QUEUE_STOPPED: _stopped,
    CauseKind.CLUSTER_QUEUE_MISSING: _cluster_queue_missing,
    CauseKind.CLUSTER_QUEUE_STOPPED: _stopped,
    CauseKind.FLAVOR_MISSING: _object_missing,
    CauseKind.CHECK_MISSING: _object_missing,
    CauseKind.TOPOLOGY_MISSING: _object_missing,
    CauseKind.TOPOLOGY_FULL: _topology,
    CauseKind.TOPOLOGY_TOO_SMALL: _topology,
    CauseKind.CHECK_INACTIVE: _check_inactive,
    CauseKind.COHORT_CYCLE: _cohort_cycle,
    CauseKind.NAMESPACE_NOT_SELECTED: _not_selected,
    CauseKind.DEACTIVATED: _deactivated,
    CauseKind.REFUSED: _refused,
    CauseKind.NOT_COVERED: _not_covered,
    CauseKind.FLAVORS_REFUSE: _flavors_refuse,
    CauseKind.ABOVE_MAXIMUM: _quota,
    CauseKind.BORROWING_LIMIT: _quota,
    CauseKind.NOT_LENT: _quota,
    CauseKind.NO_FREE_QUOTA: _quota,
    CauseKind.MAY_NOT_PREEMPT: _quota,
    CauseKind.QUEUE_HEAD: _head,
    CauseKind.ANOTHER_FIRST: _another,
    CauseKind.CHECK_PENDING: _check,
    CauseKind.BACKOFF: _backoff,
    CauseKind.LIVELOCK: _livelock,
    CauseKind.NO_NODES: _nodes,
    CauseKind.SCHEDULER_UNKNOWN: _scheduler,
    CauseKind.GATED: _gated,
    CauseKind.PODS_REFUSED: _pods_refused,
    CauseKind.VOLCANO_QUEUE_MISSING: _volcano_missing,
    CauseKind.VOLCANO_QUEUE_CLOSED: _volcano_closed,
    CauseKind.VOLCANO_TREE: _volcano_tree,
    CauseKind.VOLCANO_LIMIT: _volcano_limit,
    CauseKind.VOLCANO_ABOVE_LIMIT: _volcano_limit,
    CauseKind.VOLCANO_OVERCOMMIT: _volcano_overcommit,
    CauseKind.GANG_INCOMPLETE: _incomplete,
    CauseKind.VOLCANO: _volcano,
    CauseKind.UNKNOWN: _unknown,
}


def past(it: Preempted) -> str:
    """A preemption of the past."""
    rule = _RULES.get(it.reason, it.reason)
    where = f" from {it.path}" if it.path else ""
    at = f" at {it.at}" if it.at else ""
    return f"{it.by}{where} preempted it{at} ({rule})."


def remedy(changes: Sequence[Change]) -> str:
    """What to change, as an imperative."""
    return f"{_joined([change(it) for it in changes])}."


def _joined(found: Sequence[str]) -> str:
    """Imperatives as one sentence."""
    return "; ".join([found[0], *(it[0].lower() + it[1:] for it in found[1:])])


def change(it: Change) -> str:
    """One change, as an imperative without a period."""
    match it:
        case FieldChange():
            return _field(it)
        case ObjectAdded():
            return _added(it)
        case SpecChange(edits=edits):
            return _joined([_edit(one) for one in edits])
        case QueueChange(before=before, after=after):
            return f"Use LocalQueue {after}{f' instead of {before}' if before else ''}"
        case PriorityChange(after=after, class_name=name):
            if name:
                return f"Use the priority class {name} ({after})"
            return f"Create a WorkloadPriorityClass with the value {after}, and use it"
        case _:
            return f"{_of_pods(it)}{_of_set(it.pod_set)}"


def _edit(it: SpecEdit) -> str:
    """A change of one field of a spec."""
    place = f" ({it.place})" if it.place else ""
    if it.kind == "ResourcePool":
        return f"Set {it.field} of pool {it.name} to {it.after}{place}"
    verb = "Raise" if _number(it.after) > _number(it.before) else "Lower"
    what = f"{it.field} {it.profile}".rstrip()
    return (
        f"{verb} {what} of team {it.name} in pool {it.pool} from {it.before} to {it.after}{place}"
    )


def _added(it: ObjectAdded) -> str:
    metadata = it.data["metadata"]
    name = "/".join(filter(None, [metadata.get("namespace", ""), metadata["name"]]))
    queue = it.data["spec"].get("clusterQueue")
    return f"Create {it.data['kind']} {name}{f' for ClusterQueue {queue}' if queue else ''}"


def _of_pods(it: PodSetChange) -> str:
    match it:
        case PodsChange(before=before, after=after):
            return f"Run {counted(after, 'pod')} instead of {before}"
        case RequestChange(resource=resource, after=0):
            return f"Remove the request for {resource}"
        case RequestChange(resource=resource, before=before, after=after):
            old = bare_amount(resource, before)
            return f"Request {amount(resource, after)} in each pod instead of {old}"
        case TolerationAdded(toleration=one):
            return f"Add a toleration for the taint {_taint(one)}"
        case SelectorChange(key=key, before=before, after=None):
            return f"Remove {key}: {before} from nodeSelector"
        case SelectorChange(key=key, before=before, after=after):
            return f"Select nodes with {key}: {after} instead of {before}"
        case AffinityRemoved():
            return "Remove the required node affinity"
        case ConstraintRemoved(field="topologySpreadConstraints"):
            return "Write ScheduleAnyway in topologySpreadConstraints"
        case ConstraintRemoved(field=field):
            return f"Remove the required terms of {field}"


def _of_set(name: str) -> str:
    return "" if name in ("", "main") else f" (pod set {name})"


def _taint(it: TaintView | TolerationView) -> str:
    return f"{it.key}{f'={it.value}' if it.value else ''}:{it.effect}"


def _field(it: FieldChange) -> str:
    name = f"{it.kind} {'/'.join(filter(None, [it.namespace, it.name]))}"
    field = str(it.path[-1])
    if field in ("nominalQuota", "borrowingLimit", "lendingLimit"):
        verb = "Raise" if _number(it.after) > _number(it.before) else "Lower"
        return f"{verb} {field} of {it.of} in {name} from {it.before} to {it.after}"
    if it.path[:2] in (("spec", "hard"), ("spec", "capability")):
        return f"Raise {dotted(it.path[1:])} of {name} from {it.before} to {it.after}"
    if it.path[:2] == ("metadata", "labels"):
        return _label(it, field, name)
    if it.kind == "Node":
        return f"Uncordon {name}"
    path = dotted(it.path[1:] if it.path[0] == "spec" else it.path)
    if it.after is None:
        return f"Remove {path} from {name}"
    if isinstance(it.after, dict | list):
        more = f" so that it covers {it.of}" if it.of else ""
        return f"Change {path} of {name}{more}: {_brief(it.after)}"
    before = f" instead of {_brief(it.before)}" if it.before is not None else ""
    return f"Set {path} of {name} to {_brief(it.after)}{before}"


def _label(it: FieldChange, key: str, name: str) -> str:
    if it.after is None:
        return f"Remove the label {key} from {name}"
    if it.before is None or it.kind == "Namespace":
        return f"Add the label {key}: {it.after} to {name}"
    return f"Set the label {key} of {name} to {it.after} instead of {it.before}"


def _number(value: Any) -> Fraction:
    try:
        return quantity.read(value).value
    except ValueError:
        return Fraction(0)


def _brief(value: Any) -> str:
    """A value as flow YAML, or its keys if it is large."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        if "matchExpressions" in value:
            one = value["matchExpressions"][0]
            return f"{one['key']} in {listed(list(one['values']), 'or')}"
        if "coveredResources" in value:
            return f"coveredResources {names(value['coveredResources'])}"
        return ", ".join(f"{key}: {_brief(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(_brief(one) for one in value)
    return str(value)


def costs(it: Cost) -> str:
    """What a change costs others, as sentences."""
    found = []
    if it.preempted:
        found.append(f"{names(it.preempted)} must leave.")
    if it.delayed:
        waits = "waits" if len(it.delayed) == 1 else "wait"
        found.append(f"{names(it.delayed)} {waits} longer.")
    if it.admitted:
        what = "is" if len(it.admitted) == 1 else "are"
        found.append(f"{names(it.admitted)} {what} admitted too.")
    return " ".join(found) or "No other workload waits longer."


def ends(found: Sequence[str]) -> str:
    """Whose end lets it start."""
    return f"Without a change, it {starts_after(found)[3:]}"


def starts_after(found: Sequence[str]) -> str:
    """Whose end lets it start after a change."""
    verb = "ends" if len(found) == 1 else "end"
    return f"It starts when {names(found)} {verb}."


def start(it: Start) -> str:
    """When it starts by the durations of what runs."""
    if it.after is not None:
        have = "has" if len(it.ends) == 1 else "have"
        ended = f", when {names(it.ends)} {have} ended" if it.ends else ""
        leave = f" Then {names(it.preempts)} must leave." if it.preempts else ""
        return f"It starts in {duration(it.after)}{ended}, if no other job arrives.{leave}"
    if not it.unknown:
        return "It still waits when all other jobs have ended."
    return (
        "policygen cannot know when it starts, because it does not know how long "
        f"{counted(it.unknown, 'running workload')} will run. Give --duration, such as 2h."
    )
