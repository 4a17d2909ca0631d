"""A ClusterQueue is alone in its cohort, so it can neither borrow nor lend."""

from policygen.core.suggest import Names, suggest
from policygen.lint.kueue.cohorts import cohort_field, forest
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The queue has no other queue to borrow from. If a Cohort object exists, that is intended.

    Source: concepts/cohort.md of Kueue's documentation.
    """
    if facts.cluster.cohorts.any:
        return  # reported by cohort-undeclared
    cohorts = facts.cluster.derive(forest).cohorts
    names = Names(cohorts)
    for name, cohort in cohorts.items():
        if len(cohort.children) != 1:
            continue
        queue = cohort.children[0].queue
        if queue is None:
            continue
        remedy = (
            f"remove {cohort_field(queue)}, or put other queues into this cohort"
            if len(names) == 1
            else suggest(name, names)
        )
        yield Hit(
            RULE,
            f'{queue} is alone in cohort "{name}", so it can neither borrow nor lend; {remedy}',
            queue.at.to("spec", "cohortName"),
        )


RULE = ObjectRule(
    "cohort-of-one",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Correct cohortName, or remove the field until other ClusterQueues join.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ClusterQueue", "Cohort"),
)
