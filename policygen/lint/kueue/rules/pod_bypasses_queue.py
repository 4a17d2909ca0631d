"""A pod that no queue admitted uses GPUs of a pool, and the pool's queues do not count them."""

from policygen.core.names import LOCAL_QUEUE
from policygen.lint.core.pool_pods import pools
from policygen.lint.core.running_pods import families, held, named
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue counts only what it admits, and admits others for these GPUs: their pods stay Pending.

    Source: shown on Kueue 0.19.2.
    """
    for pool in facts.derive(pools):
        short = pool.shortfall(pool.past_queue)
        for family in families(pool.past_queue):
            yield Hit(
                RULE,
                f'the queues of pool "{pool.facts.name}" do not count {held(family)} of '
                f"{named(family)} and admit other jobs for the same GPUs; set label {LOCAL_QUEUE} on "
                f"the pod's owner, or taint the nodes{short}",
                family[0].pod.at,
            )


RULE = ObjectRule(
    "pod-bypasses-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Set the queue-name label on the object that creates the pod, or taint the nodes.",
    judges=("Pod",),
    check=check,
    needs=frozenset({Need.SEEN, Need.SPEC, Need.NODES, Need.WORKLOADS}),
)
