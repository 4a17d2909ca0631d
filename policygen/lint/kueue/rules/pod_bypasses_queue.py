"""A pod holds GPUs of a pool past the queues that hand them out."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.names import LOCAL_QUEUE
from policygen.core.rule import Severity
from policygen.lint.core.pool_pods import pools
from policygen.lint.core.running_pods import families, held, named
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Kueue counts what it admits; it hands out the same GPUs again, and admitted pods find no node.

    Source: shown on Kueue 0.19.2.
    """
    for pool in facts.derive(pools):
        short = pool.shortfall(pool.past_queue)
        for family in families(pool.past_queue):
            verb = "holds" if len(family) == 1 else "hold"
            yield Hit(
                RULE,
                f'{named(family)} {verb} {held(family)} of pool "{pool.facts.name}" past its queues, '
                f"which hand out the same GPUs again; label what made it {LOCAL_QUEUE}, or keep it off "
                f"these nodes with a taint{short}",
                family[0].pod.at,
            )


RULE = ObjectRule(
    "pod-bypasses-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Pod",),
    check=check,
    needs=frozenset({Need.SEEN, Need.SPEC, Need.NODES, Need.WORKLOADS}),
)
