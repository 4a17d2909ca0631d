"""A Cohort has quota that none of its queues lists."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.cohorts import Cell, forest
from policygen.lint.kueue.quotas import quotas
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Only flavors and resources that a queue lists can be borrowed.

    A Cohort without any queue in its tree may be waiting for some.
    Source: pkg/scheduler/flavorassigner/flavorassigner.go; issue 8840.
    """
    trees = facts.cluster.derive(forest)
    listed: dict[str, set[Cell]] = {}
    for node in trees.queues.values():
        if node.parent is not None and not node.cyclic:
            listed.setdefault(node.root().name, set()).update(node.quotas)
    for cohort in facts.cluster.cohorts:
        own = trees.cohorts[cohort.name]
        known = set() if own.cyclic else listed.get(own.root().name, set())
        for it in quotas(cohort) if known else ():
            if it.quota.nominal_quota and (it.flavor, it.resource) not in known:
                yield Hit(
                    RULE,
                    f"{cohort} has {it.resource} of flavor {it.flavor}, which no queue below it "
                    "lists, so nobody can borrow it; list it there with nominalQuota 0",
                    it.at,
                )


RULE = ObjectRule(
    "cohort-quota-out-of-reach",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Cohort",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ClusterQueue",),
)
