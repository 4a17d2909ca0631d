"""A queue is stopped in what is to be applied."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule

_STOPS = ("Hold", "HoldAndDrain")
"""What Kueue knows; any other word the API server refuses."""


def check(facts: Facts) -> Iterator[Hit]:
    """Nothing is admitted, and what a held ClusterQueue has stays lendable to its cohort.

    Source: pkg/cache/scheduler/clusterqueue.go (isStopped) and resource_node.go, which sums the
    quota of inactive queues too.
    """
    for queue in facts.cluster.cluster_queues:
        if queue.it.stop_policy in _STOPS:
            lends = ", while its cohort can still borrow its quota" if queue.it.cohort_name else ""
            yield Hit(
                RULE,
                f"{queue} is stopped ({queue.it.stop_policy}) and admits nothing{lends}; "
                "write stopPolicy: None when it is to run",
                queue.at.to("spec", "stopPolicy"),
            )
    for local in facts.cluster.local_queues:
        if local.it.stop_policy in _STOPS:
            yield Hit(
                RULE,
                f"{local} is stopped ({local.it.stop_policy}) and admits nothing; "
                "write stopPolicy: None when it is to run",
                local.at.to("spec", "stopPolicy"),
            )


RULE = ObjectRule(
    "queue-held",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue", "LocalQueue"),
    check=check,
)
