"""The limits of a cohort's members rule out any borrowing."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.cohorts import cohort_field, forest
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """If nobody may borrow, or nobody lends, the cohort does nothing.

    A cohort that an object declares may be there for its own quota, or for later.
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
                        f'nobody in cohort "{name}" can borrow, since every {field} is 0; raise '
                        f"the limits, or delete {cohort_field(queue)}",
                        queue.at.to("spec", "cohortName"),
                    )
                break


RULE = ObjectRule(
    "cohort-never-borrows",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("Cohort",),
)
