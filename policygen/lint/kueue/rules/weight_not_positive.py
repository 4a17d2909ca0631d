"""A fair-sharing weight is 0 or negative, so the queue is served last."""

from policygen.lint.kueue.quotas import owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """As soon as it borrows, its share is infinite: it is served last and preempted first.

    Below 0, Kueue refuses a ClusterQueue or Cohort, but accepts a LocalQueue.
    Source: pkg/cache/scheduler/fair_sharing.go; issues 4961, 13559.
    """
    cluster = facts.cluster
    for entry in owners(cluster):
        if entry.fields.fair_sharing is not None and entry.fields.fair_sharing.weight == 0:
            yield Hit(
                RULE,
                f"{entry} has weight 0, so Kueue admits its workloads last and preempts them "
                "first whenever it borrows; write a weight above 0",
                entry.at.to("spec", "fairSharing", "weight"),
            )
    for local in cluster.local_queues:
        if local.fields.fair_sharing is not None and local.fields.fair_sharing.weight <= 0:
            yield Hit(
                RULE,
                f"{local} has weight {local.fields.fair_sharing.weight}, so Kueue serves it after all "
                "other queues of its ClusterQueue; write a weight above 0",
                local.at.to("spec", "fairSharing", "weight"),
            )


RULE = ObjectRule(
    "weight-not-positive",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write a weight above 0.",
    judges=("ClusterQueue", "Cohort", "LocalQueue"),
    check=check,
)
