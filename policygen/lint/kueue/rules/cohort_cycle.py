"""Cohorts are each other's parents."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.cohorts import forest
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Kueue leaves every queue at or below a cycle out of scheduling.

    Source: pkg/cache/scheduler/snapshot.go (HasCycle); no webhook refuses it.
    """
    trees = facts.cluster.derive(forest)
    for ring in trees.cycles:
        nodes = [trees.cohorts[name] for name in ring]
        places = [node.entry.at.to("spec", "parentName") for node in nodes if node.entry]
        way = " → ".join((*ring, ring[0]))
        yield Hit(
            RULE,
            f"the parents of Cohort {ring[0]} lead back to it ({way}); give one of them "
            "another parent, or none",
            places[0],
            related=tuple(places[1:]),
        )


RULE = ObjectRule(
    "cohort-cycle",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Cohort",),
    check=check,
    reads=("ClusterQueue",),
)
