"""A ClusterQueue or Cohort limits borrowing or lending but belongs to no cohort."""

from policygen.core.quoting import listed
from policygen.lint.kueue.cohorts import cohort_field, joined
from policygen.lint.kueue.quotas import amounts, parents, quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The CRD already refuses a ClusterQueue's borrowingLimit; `crd-rule-broken` reports that queue.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateLimit.
    """
    for owner, cohort, parent in parents(facts.cluster):
        places = []
        resources: dict[str, dict[str, None]] = {}  # by field, each once
        for placed in () if cohort else quotas(owner):
            for field, _ in amounts(placed.quota):
                if field in ("borrowingLimit", "lendingLimit"):
                    places.append(placed.at / field)
                    resources.setdefault(field, {})[placed.resource] = None
        of_crd = parent == "cohortName" and "crd-rule-broken" in facts.run
        if places and not (of_crd and "borrowingLimit" in resources):
            names = [f"{field} for {listed([*each], 'and')}" for field, each in resources.items()]
            first, *others = places
            yield Hit(
                RULE,
                f"{owner} has a {listed(names, 'and a')} but belongs to no cohort, "
                f"which Kueue refuses; write {cohort_field(owner)}, or remove {listed([*resources], 'and')}",
                first,
                tuple(others),
                meant=joined(facts.cluster, owner),
            )


RULE = ObjectRule(
    "limits-without-cohort",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Set cohortName in the ClusterQueue or parentName in the Cohort, or remove the limit.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
