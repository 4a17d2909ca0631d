"""Sentences about why a workload waits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from policygen.core.quoting import counted, times
from policygen.report import quota_words
from policygen.report.amount_words import amount, are, bare_amount, names
from policygen.simulate.result import JobResult
from policygen.simulate.why.causes import (
    BY_QUEUE_OF_VOLCANO,
    LASTING,
    Cause,
    CauseKind,
    NearestNode,
    NeverPlaced,
    ObstacleKind,
)
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.history import Preempted

WITH_MESSAGE = frozenset(
    {
        CauseKind.BACKOFF,
        CauseKind.CHECK_PENDING,
        CauseKind.NODE_REJECTS,
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
_EVICTED: Final = {
    "ClusterQueueStopped": "its ClusterQueue has stopPolicy HoldAndDrain",
    "LocalQueueStopped": "its LocalQueue has stopPolicy HoldAndDrain",
    "DeactivatedDueToMaximumExecutionTimeExceeded": "it reached its maximum execution time",
    "AdmissionCheck": "an admission check requested a retry",
    "DeactivatedDueToAdmissionCheck": "an admission check rejected it",
}
"""Why Kueue evicts a job, by its reason; for other reasons, its pods were not ready in time."""
PLACING = BY_QUEUE_OF_VOLCANO | {
    CauseKind.NO_NODES,
    CauseKind.NODE_REJECTS,
    CauseKind.PODS_REFUSED,
    CauseKind.SCHEDULER_UNKNOWN,
}
"""Causes that Kueue does not decide about."""
_MISSING = {
    CauseKind.CHECK_MISSING: "AdmissionCheck",
    CauseKind.FLAVOR_MISSING: "ResourceFlavor",
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
    CauseKind.TOPOLOGY_MISSING: "a Topology of its queue does not exist or has no levels",
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
    CauseKind.NODE_REJECTS: "the node that its pods name rejects them",
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


def _objects(kind: str, found: Sequence[str]) -> str:
    """Objects of a kind in a sentence: `AdmissionChecks a and b`."""
    return f"{kind}{'' if len(found) == 1 else 's'} {names(found)}"


def _ended(sentence: str) -> str:
    """The sentence with a period, unless it ends with a mark."""
    return sentence if sentence.endswith(("?", ".")) else f"{sentence}."


def title(cause: Cause) -> str:
    """The cause in the first line. What nodes never hold comes before what waits for others."""
    if cause.never is not None and cause.kind not in LASTING:
        return TITLES[CauseKind.NO_NODES]
    if cause.kind is CauseKind.VOLCANO_LIMIT and cause.queue:  # its own queue, or one above it
        return f"the limit of Queue {cause.queue} is used"
    return TITLES[cause.kind]


def headline(it: Explanation) -> str:
    """One line: the workload, and whether it waits."""
    team = f" of team {it.team}" if it.team and it.team != it.name.partition("/")[0] else ""
    name = it.name.removesuffix(f" ({it.kind})")
    if it.equal:
        jobs = f"{1 + len(it.equal)} equal {it.kind}s{team} wait, such as {name}"
        return f"{jobs}: {title(it.cause)}"
    waits = " waits:" if it.waits else ""
    return f"{it.kind} {name}{team}{waits} {title(it.cause)}"


def group(found: Sequence[Explanation]) -> str:
    """One line: how many workloads wait for the same reason."""
    cause = found[0].cause
    where = f" ({cause.queue_kind} {cause.queue})" if cause.queue else ""
    number = sum(1 + len(it.equal) for it in found)
    return f"{counted(number, 'workload')} wait{where}: {title(cause)}"


def group_parts(found: Sequence[Explanation]) -> Iterator[str]:
    """Which workloads these are, and what they request together."""
    yield f"They are {names([name for it in found for name in (it.name, *it.equal)])}."
    teams = list(dict.fromkeys(it.team for it in found if it.team))
    if len(teams) > 1:
        yield f"Their teams are {names(teams)}."
    first = next(iter(found[0].cause.obstacles), None)
    if first is not None and first.resource:
        asked = sum(
            one.asked * (1 + len(it.equal))
            for it in found
            for one in it.cause.obstacles
            if (one.flavor, one.resource) == (first.flavor, first.resource)
        )
        total, free = amount(first.resource, asked), bare_amount(first.resource, first.free)
        of = f" of flavor {first.flavor}" if first.flavor else ""
        yield f"Together they request {total}{of}, and {are(free)} free."


def reasons(it: Explanation) -> Iterator[str]:
    """Why it waits, in plain words."""
    if it.cause.never is not None:
        yield _never(it.cause.never, it.cause)
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
        found.insert(0, f"Kueue evicted it {times(job.evicted)}, because {evicted_because(job)}.")
    return " ".join(found[: 1 if cause.kind in _QUOTA else sentences])


def evicted_because(job: JobResult) -> str:
    """Why Kueue last evicted it: `its pods were not ready in time`."""
    return _EVICTED.get(job.evicted_for, "its pods were not ready in time")


def _never(it: NeverPlaced, cause: Cause) -> str:
    near = it.nearest
    if near is not None:
        flavors = {one.flavor for one in cause.obstacles} - {""}
        node = (
            f"node of flavor {flavors.pop()}" if len(flavors) == 1 else "node that its pods can use"
        )
        asked, largest = amount(near.resource, near.asked), bare_amount(near.resource, near.free)
        return f"It never starts: no {node} has {asked} (the largest has {largest})."
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


def _topology_missing(_: Explanation, cause: Cause) -> Iterator[str]:
    topologies = _objects("Topology", cause.names)
    do, have = ("does", "has") if len(cause.names) == 1 else ("do", "have")
    yield f"{cause.about} admits nothing: {topologies} {do} not exist or {have} no levels."


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
    if cause.names:
        yield f"{_objects('Admission check', cause.names)} rejected it."


def _refused(_: Explanation, __: Cause) -> Iterator[str]:
    yield "Its requests are above its limits, or outside of a LimitRange of its namespace."


def _topology(_: Explanation, cause: Cause) -> Iterator[str]:
    full = (it.flavor for it in cause.obstacles if it.kind is ObstacleKind.TOPOLOGY_FULL)
    flavor = next(full, "")
    where = f"the topology of flavor {flavor}" if flavor else "its topology"
    if cause.kind is CauseKind.TOPOLOGY_TOO_SMALL:
        yield f"It never starts as it is: not even an empty domain of {where} has room for its pods."
    else:
        yield f"Its quota is free, but no domain of {where} has room for its pods."


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
    yield f"Kueue evicted it, and queues it again {cause.message}."


def _livelock(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"{names(('It', *cause.names), 4)} preempt each other again and again."


def _nodes(_: Explanation, cause: Cause) -> Iterator[str]:
    waiting = cause.pods - cause.placed
    if cause.pods == 1:
        yield "Its pod fits on no node."
    else:
        fit = "fits" if waiting == 1 else "fit"
        yield f"{waiting} of its {cause.pods} pods {fit} on no node{_pod_sets(cause)}."
    for one in cause.node_reasons:
        yield f"{counted(one.nodes, 'node')}: {one.reason}."
    near = cause.nearest
    if near is not None:
        yield f"Node {near.node} comes closest: a pod requests {_of_nearest(near)}."


def _pod_sets(cause: Cause) -> str:
    """Which pod sets the pods that wait belong to; empty if there is only one."""
    if not cause.waiting:
        return ""
    sets = ", ".join(f"{it.pod_set}: {it.waiting} of {it.pods}" for it in cause.waiting)
    if len(cause.waiting) == 1:
        return f" (pod set {sets})"
    about = f"; the reason is that of {cause.waiting[0].pod_set}"
    return f" (pod sets {sets}{about})"


def _of_nearest(near: NearestNode) -> str:
    asked, free = amount(near.resource, near.asked), bare_amount(near.resource, near.free)
    held = f"; the rest is held by {names(near.holders)}" if near.holders else ""
    return f"{asked}, and {are(free)} free{held}"


def _scheduler(_: Explanation, cause: Cause) -> Iterator[str]:
    name, *meant = cause.names
    if not meant:
        yield f"policygen does not know scheduler {name}. If no scheduler has this name, its pods never start."
        return
    yield f"No scheduler has the name {name}, so its pods never start, and have no event."
    yield f"Did you mean schedulerName: {meant[0]}?"


def _rejects(_: Explanation, cause: Cause) -> Iterator[str]:
    if cause.about.startswith("Node "):
        yield _ended(f"{cause.about} rejects its pods: {cause.message}")
    else:
        yield _ended(f"{cause.about} failed: {cause.message}")
    near = cause.nearest
    if near is not None:
        yield f"A pod requests {_of_nearest(near)}."
    yield (
        "They name the node (nodeName), so no scheduler looks for another one; remove nodeName, or "
        "select nodes by a label."
    )


def _gated(_: Explanation, cause: Cause) -> Iterator[str]:
    gates = _objects("scheduling gate", cause.names)
    yield f"Its pods have the {gates}, which its controller must remove."


def _pods_refused(_: Explanation, cause: Cause) -> Iterator[str]:
    if cause.placed:
        left = cause.pods - cause.placed
        yield f"{cause.placed} of its {counted(cause.pods, 'pod')} {'is' if cause.placed == 1 else 'are'} created."
        other = "one" if left == 1 else str(left)
        yield _ended(f"{cause.about} refuses the other {other}{_pod_sets(cause)}: {cause.message}")
    else:
        yield _ended(f"{cause.about} refuses its pods: {cause.message}")
    if cause.names:
        yield (
            f"Set {names(cause.names)} in each container, or create a LimitRange with defaults in "
            "the namespace."
        )


def _volcano(_: Explanation, cause: Cause) -> Iterator[str]:
    if cause.message:
        yield f"Volcano does not start it: {cause.message}"
    else:
        yield "Volcano schedules it, and nothing that policygen knows keeps Volcano from starting it."


def _volcano_missing(it: Explanation, cause: Cause) -> Iterator[str]:
    if len(cause.names) == 1:
        yield f"{cause.about} does not exist. Did you mean Queue {cause.names[0]}?"
    elif cause.names:
        yield f"{cause.about} does not exist. It can use {_objects('Queue', cause.names)}."
    else:
        yield f"{cause.about} does not exist, and no Queue is known for jobs of {it.team}."
    if cause.field:
        one = cause.names[0] if len(cause.names) == 1 and not it.remedies else ""
        new = f" Write {one} there." if one else ""
        yield f"The {cause.field} names it.{new}"


def _volcano_closed(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"{cause.about} is not open (status.state), so it takes no job."


def _volcano_tree(_: Explanation, cause: Cause) -> Iterator[str]:
    yield f"The plugin capacity starts no job of any queue: {cause.message}."


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
    CauseKind.TOPOLOGY_MISSING: _topology_missing,
    CauseKind.TOPOLOGY_FULL: _topology,
    CauseKind.TOPOLOGY_TOO_SMALL: _topology,
    CauseKind.CHECK_INACTIVE: _check_inactive,
    CauseKind.COHORT_CYCLE: _cohort_cycle,
    CauseKind.NAMESPACE_NOT_SELECTED: _not_selected,
    CauseKind.DEACTIVATED: _deactivated,
    CauseKind.REFUSED: _refused,
    CauseKind.NOT_COVERED: quota_words.not_covered,
    CauseKind.FLAVORS_REFUSE: quota_words.flavors_refuse,
    CauseKind.ABOVE_MAXIMUM: quota_words.quota,
    CauseKind.BORROWING_LIMIT: quota_words.quota,
    CauseKind.NOT_LENT: quota_words.quota,
    CauseKind.NO_FREE_QUOTA: quota_words.quota,
    CauseKind.MAY_NOT_PREEMPT: quota_words.quota,
    CauseKind.QUEUE_HEAD: _head,
    CauseKind.ANOTHER_FIRST: _another,
    CauseKind.CHECK_PENDING: _check,
    CauseKind.BACKOFF: _backoff,
    CauseKind.LIVELOCK: _livelock,
    CauseKind.NO_NODES: _nodes,
    CauseKind.NODE_REJECTS: _rejects,
    CauseKind.SCHEDULER_UNKNOWN: _scheduler,
    CauseKind.GATED: _gated,
    CauseKind.PODS_REFUSED: _pods_refused,
    CauseKind.VOLCANO_QUEUE_MISSING: _volcano_missing,
    CauseKind.VOLCANO_QUEUE_CLOSED: _volcano_closed,
    CauseKind.VOLCANO_TREE: _volcano_tree,
    CauseKind.VOLCANO_LIMIT: quota_words.volcano_limit,
    CauseKind.VOLCANO_ABOVE_LIMIT: quota_words.volcano_limit,
    CauseKind.VOLCANO_OVERCOMMIT: quota_words.volcano_overcommit,
    CauseKind.GANG_INCOMPLETE: _incomplete,
    CauseKind.VOLCANO: _volcano,
    CauseKind.UNKNOWN: _unknown,
}


def others(it: Explanation) -> str:
    """Which equal jobs the answer holds for, too."""
    which = "The other one is" if len(it.equal) == 1 else "The others are"
    return f"{which} {names(it.equal)}. What follows is about {it.name}."


def past(it: Preempted) -> str:
    """A preemption of the past."""
    rule = _RULES.get(it.reason, it.reason)
    where = f" from {it.path}" if it.path else ""
    at = f" at {it.at}" if it.at else ""
    return f"{it.by}{where} preempted it{at} ({rule})."
