"""A pod uses GPUs of a pool, but its schedulerName is not the scheduler of the pool."""

from policygen.core.names import DEFAULT_SCHEDULER
from policygen.lint.core.pool_pods import pools, scheduler_name
from policygen.lint.core.running_pods import families, held, named
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Two schedulers on one pool assign the same GPU twice: each decides before it sees the other.

    Source: shown on kube-scheduler 1.36.3 beside Volcano 1.14.1.
    """
    for pool in facts.derive(pools):
        volcano = pool.facts.scheduler == "volcano"
        write = (
            "volcano"
            if volcano
            else f"{DEFAULT_SCHEDULER}, or the name of another profile of kube-scheduler"
        )
        short = pool.shortfall(pool.past_scheduler)
        for family in families(pool.past_scheduler):
            verb = "uses" if len(family) == 1 else "use"
            yield Hit(
                RULE,
                f'{named(family)} {verb} {held(family)} of pool "{pool.facts.name}" with schedulerName: '
                f"{scheduler_name(family[0])}, and two schedulers of one pool can assign the same GPU "
                f"twice; write schedulerName: {write}{short}",
                family[0].pod.at,
            )


RULE = ObjectRule(
    "pod-bypasses-scheduler",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the pool's schedulerName, or keep the pod off these nodes with a taint.",
    judges=("Pod",),
    check=check,
    needs=frozenset({Need.SEEN, Need.SPEC, Need.NODES}),
)
