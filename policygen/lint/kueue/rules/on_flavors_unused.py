"""An admission check is for a flavor that the queue does not have."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.kueue.admission_checks import checked, stray_flavors
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Before 0.17 it is accepted, and workloads skip the check. Later webhooks refuse it.

    Source: pkg/webhooks/clusterqueue_webhook.go; issue 7259.
    """
    for queue in facts.cluster.derive(checked):
        for at, said, remedy in stray_flavors(queue):
            yield Claim(f"{said}, so it is skipped; {remedy}", at)


RULE = Rule(
    "on-flavors-unused",
    Severity.WARNING,
    Family.INERT,
    judges=("ClusterQueue",),
    check=check,
    until={"kueue": (0, 17)},
)
