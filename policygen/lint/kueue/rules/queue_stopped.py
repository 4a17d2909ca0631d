"""A stopPolicy stops a queue, so it admits nothing."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_STOPS = ("Hold", "HoldAndDrain")
"""The values that stop a queue; the API server refuses unknown values."""


def check(facts: Facts) -> Hits:
    """Nothing is admitted, and the cohort can still borrow the quota of a stopped ClusterQueue.

    Source: pkg/cache/scheduler/clusterqueue.go (isStopped) and resource_node.go, which sums the
    quota of inactive queues too.
    """
    for queue in facts.cluster.cluster_queues:
        if queue.it.stop_policy in _STOPS:
            lends = ", but its cohort can still borrow its quota" if queue.it.cohort_name else ""
            yield Hit(
                RULE,
                f"{queue} has stopPolicy {queue.it.stop_policy}, so it admits nothing{lends}; "
                "write stopPolicy: None to start it",
                queue.at.to("spec", "stopPolicy"),
            )
    for local in facts.cluster.local_queues:
        if local.it.stop_policy in _STOPS:
            yield Hit(
                RULE,
                f"{local} has stopPolicy {local.it.stop_policy}, so it admits nothing; "
                "write stopPolicy: None to start it",
                local.at.to("spec", "stopPolicy"),
            )


RULE = ObjectRule(
    "queue-stopped",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Remove stopPolicy, or set it to None.",
    judges=("ClusterQueue", "LocalQueue"),
    check=check,
    aliases=("queue-held",),
)
