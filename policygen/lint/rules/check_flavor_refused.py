"""An admission check is for a flavor that the queue does not have, and Kueue refuses it."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.checks import checks
from policygen.lint.quotas import flavors
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.spec.nearest import suggest


def check(facts: Facts) -> Iterator[Claim]:
    """From 0.17 on; before, `on-flavors-unused` tells.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateAdmissionCheckOnFlavors; issue 7259.
    """
    for queue in facts.cluster.cluster_queues:
        mine = tuple(checks(queue))
        used = {flavor.name for _, flavor in flavors(queue)} if mine else set()
        for at, each in mine:
            for i, name in enumerate(each.on_flavors):
                if name not in used:
                    yield Claim(
                        f'{queue} asks for check "{each.name}" on flavor "{name}", which it does '
                        f"not have: it is refused; {suggest(name, used)}",
                        at.to("onFlavors", i),
                    )


RULE = Rule(
    "check-flavor-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=("ClusterQueue",),
    check=check,
    since={"kueue": (0, 17)},
)
