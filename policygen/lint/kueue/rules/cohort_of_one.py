"""A ClusterQueue is alone in its cohort, so it can neither borrow nor lend."""

from policygen.core.finding import At
from policygen.core.suggest import Names, suggest
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.cohorts import cohort_field, forest
from policygen.lint.kueue.missing_cluster_queues import missing_cluster_queues
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The queue has no other queue to borrow from. If a Cohort object exists, that is intended.

    Two such queues whose cohorts have similar names were probably meant for one cohort. A missing queue that a
    LocalQueue names may be in the cohort.
    Source: concepts/cohort.md of Kueue's documentation.
    """
    if facts.cluster.cohorts.any:
        return  # reported by cohort-undeclared
    cohorts = facts.cluster.derive(forest).cohorts
    names = Names(cohorts)
    alone = {
        name: queue
        for name, cohort in cohorts.items()
        if len(cohort.children) == 1 and (queue := cohort.children[0].queue)
    }
    reported: set[str] = set()
    for name, queue in alone.items():
        if name in reported:
            continue
        similar = names.meant(name)
        other = alone.get(similar) if names.meant(similar) == name else None
        if other:
            reported.add(similar)
            yield Hit(
                RULE,
                f'{queue} is alone in cohort "{name}", and {other} in cohort "{similar}", so they can neither '
                "borrow nor lend; write the same cohort in both",
                _at(queue),
                related=(_at(other),),
            )
            continue
        if facts.derive(missing_cluster_queues):
            continue
        remedy = (
            f"remove {cohort_field(queue)}, or put other queues into this cohort"
            if len(names) == 1
            else suggest(name, names)
        )
        yield Hit(
            RULE,
            f'{queue} is alone in cohort "{name}", so it can neither borrow nor lend; {remedy}',
            _at(queue),
        )


def _at(queue: Entry[ClusterQueueView]) -> At:
    return queue.at.to("spec", "cohortName")


RULE = ObjectRule(
    "cohort-of-one",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Correct cohortName, or remove the field until other ClusterQueues join.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ClusterQueue", "Cohort", "LocalQueue"),
)
