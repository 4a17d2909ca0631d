"""The queue `root`, which Volcano makes itself, gets limits."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.untyped import mapping
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """Changes of its amounts are refused from 1.14.2 on; before, they cap the whole cluster.

    Source: queues/validate/validate_queue.go, AdmitQueues; volcano-sh/volcano#4349.
    """
    queue = facts.cluster.queues.get(queues.ROOT)
    if queue is None:
        return
    it = queue.it
    # On a cluster, which gives a uid, Volcano itself writes what root deserves and is guaranteed.
    is_seen = facts.cluster.seen is not None or "uid" in mapping(queue.object.data.get("metadata"))
    if it.capability or (not is_seen and (it.deserved or it.guarantee.resource)):
        yield Hit(
            RULE,
            "queue root stands for the whole cluster and its amounts follow from the nodes; a "
            "change of them is refused, or caps every queue; remove it, and give limits to the "
            "queues below it",
            queue.at / "spec",
        )


RULE = ObjectRule(
    "root-queue-declared",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Queue",),
    check=check,
)
