"""A Queue is closed, but gangs or pods wait in this Queue."""

from policygen.core.finding import At
from policygen.core.names import VOLCANO_QUEUE
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import text
from policygen.kubernetes.volcano import PodGroupView, QueueView
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.conditions import phase
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """A queue is Closing as long as it has PodGroups. Volcano admits no new ones in either state.

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
                queue.at,
                tuple(at for _, at in waiting[:10]),
            )


def _waiting(facts: Facts, queue: Entry[QueueView], state: str) -> list[tuple[str, At]]:
    """The gangs of a queue that do not run, and the workloads whose pods get no PodGroup."""
    if state not in ("Closed", "Closing"):
        return []
    gangs = [
        (str(group), group.at)
        for group in facts.cluster.pod_groups.by(_queue).get(queue.name, ())
        if phase(group.object) in ("", "Pending", "Inqueue")
    ]
    uses = [
        (use.owner, use.at)
        for use in facts.cluster.derive(queues.queue_uses)
        if use.queue == queue.name and use.at.path[-1] == VOLCANO_QUEUE and state == "Closed"
    ]
    return gangs + uses


def _queue(group: Entry[PodGroupView]) -> str:
    return group.fields.queue or queues.DEFAULT


RULE = ObjectRule(
    "queue-closed",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Open the queue, or use another queue.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.SEEN}),
    reads=("PodGroup", *KINDS),
)
