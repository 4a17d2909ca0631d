"""A pod holds GPUs of a pool that another scheduler than the pool's gave it."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.names import DEFAULT_SCHEDULER
from policygen.core.rule import Severity
from policygen.lint.core.pool_pods import pools, scheduler_name
from policygen.lint.core.running_pods import families, held, named
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Two schedulers on one pool book the same card twice: each knows its own decisions first.

    Source: shown on kube-scheduler 1.36.3 beside Volcano 1.14.1.
    """
    for pool in facts.derive(pools):
        volcano = pool.facts.scheduler == "volcano"
        write = "volcano" if volcano else f"{DEFAULT_SCHEDULER} or a profile of it"
        short = pool.shortfall(pool.past_scheduler)
        for family in families(pool.past_scheduler):
            verb = "was" if len(family) == 1 else "were"
            yield Hit(
                RULE,
                f'{named(family)} with {held(family)} of pool "{pool.facts.name}" {verb} placed by '
                f"{scheduler_name(family[0])}, and two schedulers on one pool book the same card "
                f"twice; write schedulerName: {write}{short}",
                family[0].pod.at,
            )


RULE = ObjectRule(
    "pod-bypasses-scheduler",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Pod",),
    check=check,
    needs=frozenset({Need.SEEN, Need.SPEC, Need.NODES}),
)
