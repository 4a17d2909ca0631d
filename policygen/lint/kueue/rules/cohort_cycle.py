"""The parentName fields of Cohorts form a cycle, so Kueue admits nothing in these Cohorts."""

from policygen.lint.kueue.cohorts import forest
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue does not schedule queues at or below a cycle.

    Source: pkg/cache/scheduler/snapshot.go (HasCycle); no webhook refuses a cycle.
    """
    trees = facts.cluster.derive(forest)
    for cycle in trees.cycles:
        nodes = [trees.cohorts[name] for name in cycle]
        places = [node.entry.at.to("spec", "parentName") for node in nodes if node.entry]
        way = " → ".join((*cycle, cycle[0]))
        yield Hit(
            RULE,
            f"Cohort {cycle[0]} is its own ancestor ({way}), so Kueue admits nothing in these "
            "cohorts; change or remove one parentName",
            places[0],
            related=tuple(places[1:]),
        )


RULE = ObjectRule(
    "cohort-cycle",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Change parentName in one of the Cohorts, or remove the field there.",
    judges=("Cohort",),
    check=check,
    reads=("ClusterQueue",),
)
