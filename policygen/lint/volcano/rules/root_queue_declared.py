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
    if queue.fields.capability or (
        not is_seen and (queue.fields.deserved or queue.fields.guarantee.resource)
    ):
        yield Hit(
            RULE,
            "Volcano sets the amounts of queue root from the nodes. Volcano refuses this manifest, or all queues are limited to the amounts in this manifest; remove queue root from the manifests, and set capability in its child queues",
            queue.at / "spec",
        )


RULE = ObjectRule(
    "root-queue-declared",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Remove the manifest of the queue root, which Volcano creates itself, and set capability in its child queues.",
    judges=("Queue",),
    check=check,
)
