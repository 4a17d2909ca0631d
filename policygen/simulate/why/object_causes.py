"""What keeps a workload out of its queue: objects that are missing, stopped or inactive.

Source: pkg/cache and pkg/controller/core of Kueue 0.19.2.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from policygen.core.durations import duration
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.conditions import holds
from policygen.kubernetes.kueue import CheckRule, ClusterQueueView
from policygen.kubernetes.object import Object
from policygen.kubernetes.schedulers import meant_scheduler
from policygen.kubernetes.untyped import mappings, text
from policygen.simulate.arrival import Arrival
from policygen.simulate.kueue.build import cohort_cycle, missing_topologies
from policygen.simulate.kueue.scheduler import REJECTED
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.why.causes import Cause, CauseKind
from policygen.simulate.why.situation import AskedWorkload

_READY = "Ready"
_REJECTED = re.compile(rf'AdmissionCheck in {REJECTED} state: "([^"]*)"')
"""As Kueue reports it (see `Scheduler.check`)."""


def pending_checks(workload: QueuedWorkload) -> Cause:
    """The cause of a workload that holds quota while some of its admission checks are not ready."""
    names = tuple(sorted(workload.pending_checks))
    message = "; ".join(f"{it} is Pending" for it in names)
    about = f"Workload {workload.name}"
    return Cause(CauseKind.CHECK_PENDING, about, message=message, names=names)


def status_cause(object_: Object | None, workload: QueuedWorkload) -> Cause | None:
    """What Kueue's object says that no scheduling decides: checks, backoff. None: it says nothing of these."""
    if object_ is None or "status" not in object_.data:
        waits = workload.admission is not None and workload.pending_checks
        return pending_checks(workload) if waits else None
    status = object_.data.get("status")
    checks = [it for it in mappings(status, "admissionChecks") if it.get("state") != _READY]
    about = f"Workload {workload.name}"
    if workload.admission is not None and checks:
        message = "; ".join(
            f"{text(it, 'name')} is {text(it, 'state')}"
            + (f": {text(it, 'message')}" if text(it, "message") else "")
            for it in checks
        )
        names = tuple(text(it, "name") for it in checks)
        return Cause(CauseKind.CHECK_PENDING, about, message=message, names=names)
    at = text(status, "requeueState", "requeueAt")
    if workload.admission is None and at:
        return Cause(CauseKind.BACKOFF, about, message=f"at {at}")
    return None


def requeued_later(workload: QueuedWorkload) -> Cause | None:
    """The cause of a workload that Kueue evicted, and queues again after a time; None: it is in its queue."""
    if not workload.hold or workload.retry_at is None:
        return None
    after = f"{duration(workload.retry_at)} later"
    return Cause(CauseKind.BACKOFF, f"Workload {workload.name}", message=after)


def past_queue(arrival: Arrival, cause: Cause) -> Cause:
    """The cause of pods that wait: if they wait for ever, that Kueue does not manage a job that names a queue.

    Kueue would add the tolerations and labels of a flavor.
    """
    if not arrival.passes_by or not cause.lasts:
        return cause
    about = f"{arrival.kind} {arrival.object_name}"
    return Cause(CauseKind.NOT_MANAGED, about, message=arrival.passes_by)


def deactivated(workload: QueuedWorkload) -> Cause:
    """The cause of a workload whose field active is false. `names` are the admission checks that rejected it."""
    message = workload.message or "The workload is deactivated"
    rejected = _REJECTED.search(message)
    names = (rejected.group(1),) if rejected is not None else ()
    return Cause(CauseKind.DEACTIVATED, f"Workload {workload.name}", message=message, names=names)


def object_cause(cluster: Cluster, asked: AskedWorkload) -> Cause | None:
    """Why no queue takes the workload; None: its queue is active."""
    fields = asked.fields
    if not fields.active:
        message = "The workload is deactivated"
        return Cause(CauseKind.DEACTIVATED, f"Workload {asked.name}", message=message)
    name, namespace = fields.queue_name, asked.namespace
    local = cluster.local_queues.get(name, namespace)
    if local is None:
        queues = tuple(it.name for it in cluster.local_queues if it.namespace == namespace)
        message = f"LocalQueue {name} doesn't exist"
        return Cause(
            CauseKind.QUEUE_MISSING, f"LocalQueue {namespace}/{name}", message=message, names=queues
        )
    about = f"LocalQueue {namespace}/{name}"
    if local.fields.stop_policy != "None":
        message = f"LocalQueue {name} is inactive"
        return Cause(CauseKind.LOCAL_QUEUE_STOPPED, about, local.fields.cluster_queue, message)
    entry = cluster.cluster_queues.get(local.fields.cluster_queue)
    if entry is None:
        message = f"ClusterQueue {local.fields.cluster_queue} doesn't exist"
        queues = tuple(it.name for it in cluster.cluster_queues)
        return Cause(CauseKind.CLUSTER_QUEUE_MISSING, about, message=message, names=queues)
    message = f"ClusterQueue {entry.name} is inactive"
    about = f"ClusterQueue {entry.name}"
    if entry.fields.stop_policy != "None":
        return Cause(CauseKind.CLUSTER_QUEUE_STOPPED, about, entry.name, message)
    for kind, find in _MISSING.items():
        missing = tuple(find(cluster, entry.fields))
        if missing:
            return Cause(kind, about, entry.name, message, names=missing)
    inactive = tuple(_inactive_checks(cluster, entry.fields))
    if inactive:
        return Cause(CauseKind.CHECK_INACTIVE, about, entry.name, message, names=inactive)
    cycle = cohort_cycle(cluster, entry.fields.cohort_name)
    if cycle:
        return Cause(CauseKind.COHORT_CYCLE, about, entry.name, message, names=cycle)
    return None


def _missing_flavors(cluster: Cluster, queue: ClusterQueueView) -> Iterator[str]:
    named = dict.fromkeys(it.name for group in queue.resource_groups for it in group.flavors)
    return (it for it in named if not cluster.flavors.knows(it))


def _missing_topologies(cluster: Cluster, queue: ClusterQueueView) -> Iterator[str]:
    return iter(dict.fromkeys(topology for _, topology in missing_topologies(cluster, queue)))


def _checks(queue: ClusterQueueView) -> tuple[CheckRule, ...]:
    strategy = queue.admission_checks_strategy
    return () if strategy is None else strategy.admission_checks


def _missing_checks(cluster: Cluster, queue: ClusterQueueView) -> Iterator[str]:
    return (it.name for it in _checks(queue) if not cluster.admission_checks.knows(it.name))


_MISSING: Mapping[CauseKind, Callable[[Cluster, ClusterQueueView], Iterator[str]]] = {
    CauseKind.FLAVOR_MISSING: _missing_flavors,
    CauseKind.CHECK_MISSING: _missing_checks,
    CauseKind.TOPOLOGY_MISSING: _missing_topologies,
}
"""What a ClusterQueue names, directly or by its flavors, and does not exist."""


def _inactive_checks(cluster: Cluster, queue: ClusterQueueView) -> Iterator[str]:
    """The checks of a real cluster whose controller did not report them as active."""
    for it in _checks(queue) if cluster.seen else ():
        entry = cluster.admission_checks.get(it.name)
        if entry is not None and not holds(entry.object, "Active"):
            yield it.name


def scheduler_missing(cluster: Cluster, name: str) -> Cause:
    """No known scheduler has this name. `names` has the name, and the scheduler that is meant.

    Without a similar name, it can be a scheduler that policygen does not know.
    """
    meant = meant_scheduler(cluster, name)
    return Cause(CauseKind.SCHEDULER_UNKNOWN, names=(name, meant) if meant else (name,))
