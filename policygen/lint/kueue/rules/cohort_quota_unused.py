"""A Cohort's quota is unused: no ClusterQueue below the Cohort lists its flavor and resource."""

from policygen.core.suggest import Names, suggest
from policygen.lint.kueue.cohorts import Cell, forest
from policygen.lint.kueue.quotas import quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A queue can borrow only flavors and resources that it lists.

    A Cohort without queues in its tree is not reported: they may be added later.
    Source: pkg/scheduler/flavorassigner/flavorassigner.go; issue 8840.
    """
    trees = facts.cluster.derive(forest)
    listed: dict[str, set[Cell]] = {}
    flavors = Names(facts.cluster.flavors.names())
    for node in trees.queues.values():
        if node.parent is not None and not node.cyclic:
            listed.setdefault(node.root().name, set()).update(node.quotas)
    for cohort in facts.cluster.cohorts:
        own = trees.cohorts[cohort.name]
        known = set() if own.cyclic else listed.get(own.root().name, set())
        for placed in quotas(cohort) if known else ():
            if placed.quota.nominal_quota and (placed.flavor, placed.resource) not in known:
                advice = "list both in the ClusterQueues with nominalQuota 0"
                if facts.cluster.flavors.any and not facts.cluster.flavors.knows(placed.flavor):
                    advice = f"no ResourceFlavor has this name: {suggest(placed.flavor, flavors)}"
                yield Hit(
                    RULE,
                    f"{cohort} has quota for {placed.resource} in flavor {placed.flavor}, but no "
                    "ClusterQueue below the Cohort lists this resource in this flavor, so no queue "
                    f"can borrow the quota; {advice}",
                    placed.at,
                )


RULE = ObjectRule(
    "cohort-quota-unused",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="List the flavor and resource in the ClusterQueues, with nominalQuota 0.",
    judges=("Cohort",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ClusterQueue", "ResourceFlavor"),
    aliases=("cohort-quota-out-of-reach",),
)
