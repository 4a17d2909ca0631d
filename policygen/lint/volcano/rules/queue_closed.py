"""A Queue is closed, but gangs or pods wait in this Queue."""

from policygen.core.finding import At
from policygen.core.names import VOLCANO_QUEUE
from policygen.kubernetes.conditions import phase
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import text
from policygen.kubernetes.volcano import PodGroupView, QueueView, VolcanoJobView
from policygen.kubernetes.workloads import KINDS, is_checked
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues

_WAITING = ("", "Pending", "Inqueue")
"""Phases of gangs that have not started."""


def check(facts: Facts) -> Hits:
    """A queue is Closing as long as it has PodGroups. Volcano admits no new ones in either state.

    Manifests have the state if they were read from a cluster.

    Source: pkg/scheduler/plugins/capacity and proportion, which admit gangs of open queues only;
    podgroups/validate/validate_podgroup.go, checkQueueState; pkg/controllers/queue/state.
    """
    for queue in facts.cluster.queues:
        state = text(queue.object.data, "status", "state")
        waiting = _waiting(facts, queue, state)
        if waiting:
            first, others = waiting[0][0], len(waiting) - 1
            more = f" and {others} more" if others else ""
            yield Hit(
                RULE,
                f"{queue} is {state}, so {first}{more} cannot start; open the queue with `vcctl queue "
                f"operate -n {queue.name} -a open`, or use another queue",
                queue.at.to("status", "state"),
                tuple(at for _, at in waiting[:10]),
            )


def _waiting(facts: Facts, queue: Entry[QueueView], state: str) -> list[tuple[str, At]]:
    """The gangs of a queue that do not run, and the workloads whose pods get no PodGroup."""
    if state not in ("Closed", "Closing"):
        return []
    gangs: list[Entry[PodGroupView] | Entry[VolcanoJobView]] = [
        group
        for group in facts.cluster.pod_groups.by(_queue).get(queue.name, ())
        if phase(group.object) in _WAITING
    ]
    if facts.cluster.seen is None:  # on a cluster, each Job has a PodGroup
        gangs = [it for it in gangs if is_checked(it.object)]
        gangs += (
            job
            for job in facts.cluster.volcano_jobs.by(_queue).get(queue.name, ())
            if text(job.object.data, "status", "state", "phase") in _WAITING
        )
    uses = [
        (use.owner, use.at)
        for use in facts.cluster.derive(queues.queue_uses)
        if use.queue == queue.name and use.at.path[-1] == VOLCANO_QUEUE and state == "Closed"
    ]
    return [(str(gang), gang.at) for gang in gangs] + uses


def _queue(gang: Entry[PodGroupView] | Entry[VolcanoJobView]) -> str:
    return gang.fields.queue or queues.DEFAULT


RULE = ObjectRule(
    "queue-closed",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Open the queue, or use another queue.",
    judges=("Queue",),
    check=check,
    reads=("PodGroup", *KINDS),
)
