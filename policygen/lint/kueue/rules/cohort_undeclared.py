"""A cohort is named that no Cohort object declares, where others are declared."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.lint.kueue.quotas import Owner
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Kueue makes a cohort of its own for the name: a root without quota, limits or weight.

    A set that declares no Cohort at all means them to be implicit.
    Source: pkg/cache/hierarchy/manager.go.
    """
    known = facts.cluster.cohorts
    if not known.any:
        return
    named: list[tuple[Owner, str, str]] = [
        *((queue, queue.it.cohort_name, "cohortName") for queue in facts.cluster.cluster_queues),
        *((cohort, cohort.it.parent_name, "parentName") for cohort in known),
    ]
    for entry, name, field in named:
        if name and not known.knows(name):
            others = [each for each in known.names() if each != entry.name or field == "cohortName"]
            yield Hit(
                RULE,
                f'{entry} joins cohort "{name}", which no Cohort declares; '
                f"{suggest(name, others) if others else 'declare it'}",
                entry.at.to("spec", field),
            )


RULE = ObjectRule(
    "cohort-undeclared",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue", "Cohort"),
    check=check,
    needs=frozenset({Need.WHOLE}),
)
