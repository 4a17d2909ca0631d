"""An admission check is for a flavor that the queue does not have, and Kueue refuses it."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.admission_checks import checked, stray_flavors
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """From 0.17 on; before, `on-flavors-unused` tells. Queues that are older stay as they are.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateAdmissionCheckOnFlavors; issue 7259.
    """
    then = ": it is refused" if facts.cluster.seen is None else ", so it is skipped"
    for queue in facts.cluster.derive(checked):
        for at, said, remedy in stray_flavors(queue):
            yield Hit(RULE, f"{said}{then}; {remedy}", at)


RULE = ObjectRule(
    "check-flavor-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    stands=True,
    since={"kueue": (0, 17)},
)
