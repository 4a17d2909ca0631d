"""A ClusterQueue has more flavors than its status can list."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.quotas import queues_alike
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """The spec holds 256 in all groups, status.flavorsReservation 64, 16 before 0.14.

    Source: config/components/crd/bases/kueue.x-k8s.io_clusterqueues.yaml. No error: it
    admits all the same.
    """
    most = 64 if facts.target["kueue"].release >= (0, 14) else 16
    for alike in facts.cluster.derive(queues_alike):
        count = sum(len(group.flavors) for group in alike.groups)
        for queue, at in alike.at() if count > most else ():
            yield Claim(
                f"{queue} has {count} flavors, and its status can list {most}, so it cannot be "
                "updated; split the queue",
                at,
            )


RULE = Rule(
    "too-many-flavors-for-status",
    Severity.WARNING,
    Family.INERT,
    judges=("ClusterQueue",),
    check=check,
)
