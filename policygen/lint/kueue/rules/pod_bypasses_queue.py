"""A pod uses GPUs of a pool outside Kueue's queues, so Kueue does not count these GPUs."""

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
                f"{named(family)} {'uses' if len(family) == 1 else 'use'} {held(family)} outside the "
                f'queues of pool "{pool.facts.name}", so Kueue admits other jobs for the same GPUs; '
                f"set label {LOCAL_QUEUE} on the pod's owner, or taint the nodes{short}",
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
