"""An admission check is for a flavor that the queue does not have."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.checks import checks
from policygen.lint.quotas import flavors
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.spec.nearest import suggest


def check(facts: Facts) -> Iterator[Claim]:
    """Before 0.17 it is accepted, and workloads skip the check. Later webhooks refuse it.

    Source: pkg/webhooks/clusterqueue_webhook.go; issue 7259.
    """
    for queue in facts.cluster.cluster_queues:
        used = {flavor.name for _, flavor in flavors(queue)}
        for at, each in checks(queue):
            for i, name in enumerate(each.on_flavors):
                if name not in used:
                    yield Claim(
                        f'{queue} asks for check "{each.name}" on flavor "{name}", which it does '
                        f"not have, so it is skipped; {suggest(name, used)}",
                        at.to("onFlavors", i),
                    )


RULE = Rule(
    "on-flavors-unused",
    Severity.WARNING,
    Family.INERT,
    judges=("ClusterQueue",),
    check=check,
    until={"kueue": (0, 17)},
)
