"""A cohort that is only named has a single member."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import Names, suggest
from policygen.lint.kueue.cohorts import cohort_field, forest
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """There is nobody to borrow from. A cohort that an object declares is meant to grow.

    Source: concepts/cohort.md of Kueue's documentation.
    """
    if facts.cluster.cohorts.any:
        return  # cohort-undeclared says it
    cohorts = facts.cluster.derive(forest).cohorts
    names = Names(cohorts)
    for name, cohort in cohorts.items():
        if len(cohort.children) != 1:
            continue
        queue = cohort.children[0].queue
        if queue is None:
            continue
        alone = len(names) == 1
        hint = (
            f"delete {cohort_field(queue)}, or name its other members"
            if alone
            else suggest(name, names)
        )
        yield Hit(
            RULE,
            f'{queue} is the only one in cohort "{name}", so it can borrow from nobody; {hint}',
            queue.at.to("spec", "cohortName"),
        )


RULE = ObjectRule(
    "cohort-of-one",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ClusterQueue", "Cohort"),
)
