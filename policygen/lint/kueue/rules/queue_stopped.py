"""A ClusterQueue or LocalQueue has a stopPolicy, so it admits nothing."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_STOPS = ("Hold", "HoldAndDrain")
"""The values that stop a queue; the API server refuses unknown values."""


def check(facts: Facts) -> Hits:
    """Nothing is admitted, and the cohort can still borrow the quota of a stopped ClusterQueue.

    Source: pkg/cache/scheduler/clusterqueue.go (isStopped) and resource_node.go, which sums the
    quota of inactive queues too.
    """
    for queue in facts.cluster.cluster_queues:
        if queue.fields.stop_policy in _STOPS:
            policy = queue.fields.stop_policy
            yield Hit(
                RULE,
                f"{queue} has stopPolicy {policy}, so it admits nothing, but other queues of its "
                "cohort can still borrow its quota; write stopPolicy: None to start the queue"
                if queue.fields.cohort_name
                else _stopped(queue, policy),
                queue.at.to("spec", "stopPolicy"),
            )
    for local in facts.cluster.local_queues:
        if local.fields.stop_policy in _STOPS:
            yield Hit(
                RULE,
                _stopped(local, local.fields.stop_policy),
                local.at.to("spec", "stopPolicy"),
            )


def _stopped(queue: object, policy: str) -> str:
    return (
        f"{queue} has stopPolicy {policy}, so it admits nothing; write stopPolicy: None to start "
        "the queue"
    )


RULE = ObjectRule(
    "queue-stopped",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Remove stopPolicy, or set stopPolicy to None.",
    judges=("ClusterQueue", "LocalQueue"),
    check=check,
    aliases=("queue-held",),
)
