"""All borrowing limits or all lending limits in a cohort are 0, so no queue can borrow."""

from policygen.lint.kueue.cohorts import cohort_field, forest
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """If no queue may borrow, or no queue lends, the cohort has no effect.

    A cohort that a Cohort object declares may exist for its own quota, or for later use.
    Source: concepts/cohort.md of Kueue's documentation.
    """
    for name, cohort in facts.cluster.derive(forest).cohorts.items():
        if cohort.entry is not None or cohort.cyclic or len(cohort.children) < 2:
            continue
        if any(node.queue is None for node in cohort.children):
            continue
        quotas = [quota for node in cohort.children for quota in node.quotas.values()]
        for limits, field in (
            ([quota.borrowing_limit for quota in quotas], "borrowingLimit"),
            ([quota.lending_limit for quota in quotas], "lendingLimit"),
        ):
            if quotas and all(limit == 0 for limit in limits):
                queue = cohort.children[0].queue
                if queue is not None:
                    yield Hit(
                        RULE,
                        f'cohort "{name}" shares no quota, because every {field} in this cohort is '
                        f"0; raise the limits, or remove {cohort_field(queue)} from the ClusterQueues",
                        queue.at.to("spec", "cohortName"),
                    )
                break


RULE = ObjectRule(
    "cohort-never-borrows",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Raise the limits, or remove cohortName from the ClusterQueues.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("Cohort",),
)
