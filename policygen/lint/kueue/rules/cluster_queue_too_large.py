"""A ClusterQueue has more flavors, resources, or pairs of both than Kueue takes."""

from collections.abc import Iterator

from policygen.core.finding import Hit, Path
from policygen.core.rule import Severity
from policygen.core.versions import KUEUE_GROUP_CELLS, KUEUE_QUEUE_ITEMS
from policygen.kubernetes.kueue import ResourceGroup
from policygen.lint.kueue.quotas import queues_alike
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Each list alone may hold them: its schema knows no sums. Of Cohorts nothing is summed.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceGroups, from 0.14 on.
    """
    for alike in facts.cluster.derive(queues_alike):
        for steps, said in _faults(alike.groups):
            for queue, at in alike.at(*steps):
                yield Hit(RULE, f"{queue} has {said}, which is refused; split the queue", at)


def _faults(groups: tuple[ResourceGroup, ...]) -> Iterator[tuple[Path, str]]:
    sums = {
        "flavors": sum(len(group.flavors) for group in groups),
        "covered resources": sum(len(group.covered_resources) for group in groups),
    }
    for what, count in sums.items():
        if count > KUEUE_QUEUE_ITEMS:
            yield (), f"{count} {what}, more than {KUEUE_QUEUE_ITEMS}"
    for i, group in enumerate(groups):
        count = len(group.flavors) * len(group.covered_resources)
        if count > KUEUE_GROUP_CELLS:
            yield (
                (i,),
                f"{count} pairs of a flavor and a resource in a group, more than {KUEUE_GROUP_CELLS}",
            )


RULE = ObjectRule(
    "cluster-queue-too-large",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    since={"kueue": (0, 14)},
)
