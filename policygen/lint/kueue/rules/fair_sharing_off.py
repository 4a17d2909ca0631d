"""Queues have different weights, but Kueue's Configuration does not enable fairSharing."""

from fractions import Fraction

from policygen.lint.kueue.configuration import all_settings
from policygen.lint.kueue.quotas import Owner, parents
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Without fairSharing, Kueue ignores weights. Equal weights of siblings have no effect anyway.

    Source: apis/config/v1beta2/configuration_types.go, FairSharing.
    """
    siblings: dict[str, list[tuple[Fraction, Owner]]] = {}
    for owner, cohort, _ in parents(facts.cluster):
        if cohort:
            weight = owner.fields.fair_sharing.weight if owner.fields.fair_sharing else Fraction(1)
            siblings.setdefault(cohort, []).append((weight, owner))
    unequal = [
        owner
        for members in siblings.values()
        if len({weight for weight, _ in members}) > 1
        for weight, owner in members
        if weight != 1
    ]
    for entry, rules in all_settings(facts):
        if unequal and not rules.fair_sharing:
            more = f" and {len(unequal) - 1} more" if len(unequal) > 1 else ""
            yield Hit(
                RULE,
                f"the weight of {unequal[0]}{more} is ignored, because fairSharing is off in "
                "Kueue's Configuration; write fairSharing with preemptionStrategies, or remove the "
                "weights",
                entry.at / "fairSharing",
                related=tuple(
                    owner.at.to("spec", "fairSharing", "weight") for owner in unequal[:10]
                ),
            )


RULE = ObjectRule(
    "fair-sharing-off",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add fairSharing to Kueue's Configuration, or remove the weights.",
    judges=("Configuration",),
    check=check,
    reads=("ClusterQueue", "Cohort"),
)
