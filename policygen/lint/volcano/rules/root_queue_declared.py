"""A manifest sets amounts on the Queue root, which Volcano manages itself."""

from policygen.kubernetes.untyped import mapping
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """Volcano refuses changes of its amounts from 1.14.2 on; earlier they limit the whole cluster.

    Source: queues/validate/validate_queue.go, AdmitQueues; volcano-sh/volcano#4349.
    """
    queue = facts.cluster.queues.get(queues.ROOT)
    if queue is None:
        return
    # On a cluster, where objects have a uid, Volcano itself writes deserved and guarantee of root.
    is_seen = facts.cluster.seen is not None or "uid" in mapping(queue.object.data.get("metadata"))
    if queue.it.capability or (not is_seen and (queue.it.deserved or queue.it.guarantee.resource)):
        yield Hit(
            RULE,
            "queue root gets its amounts from the nodes; Volcano refuses other amounts, or applies them as a limit to every queue; remove queue root, and limit the queues below it",
            queue.at / "spec",
        )


RULE = ObjectRule(
    "root-queue-declared",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Remove the queue root, and limit the queues below it.",
    judges=("Queue",),
    check=check,
)
