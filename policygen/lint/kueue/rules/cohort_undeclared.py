"""A ClusterQueue or Cohort names a cohort that no Cohort object declares."""

from policygen.api_validation.metadata import is_subdomain
from policygen.core.suggest import Names, suggest
from policygen.lint.kueue.quotas import parents
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity, written


def check(facts: Facts) -> Hits:
    """Kueue creates a separate cohort for the name: a root without quota, limits or weight.

    If no Cohort object exists at all, the cohorts are implicit by intention. invalid-value reports
    names that no Cohort can have.
    Source: pkg/cache/hierarchy/manager.go.
    """
    known = facts.cluster.cohorts
    if not known.any:
        return
    for entry, name, field in parents(facts.cluster):
        if name and not known.knows(name) and is_subdomain(name):
            others = Names(
                other for other in known.names() if other != entry.name or field == "cohortName"
            )
            at = entry.at.to("spec", field)
            yield Hit(
                RULE,
                f'{entry} names cohort "{name}", which no Cohort object declares; '
                f"{suggest(name, others) if others else 'create a Cohort object with this name'}",
                at,
                meant=written(at, others.meant(name)),
            )


RULE = ObjectRule(
    "cohort-undeclared",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Correct the name of the cohort, or create a Cohort object with this name.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
    needs=frozenset({Need.WHOLE}),
)
