"""Kueue's feature gates stand on its command line and in its Configuration."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.controllers import KUEUE, controllers
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The manager exits at start, also where both say the same.

    Source: pkg/config/validation.go, LoadAndValidateFeatureGates; v0.13, ValidateFeatureGates.
    """
    for it in controllers(facts.cluster.of("apps", "Deployment")):
        if it.component != KUEUE or it.gates_at is None:
            continue
        for entry in facts.cluster.kueue_configurations:
            if entry.it.feature_gates:
                yield Hit(
                    RULE,
                    f"Kueue does not start with --feature-gates on the command line of {it.object} and "
                    "featureGates in its Configuration; take the flag out",
                    entry.at / "featureGates",
                    related=(it.gates_at,),
                )


RULE = ObjectRule(
    "feature-gates-given-twice",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("Configuration",),
    check=check,
    reads=("Deployment",),
)
