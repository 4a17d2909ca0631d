"""Kueue's feature gates are set both on its command line and in its Configuration."""

from policygen.kubernetes.kueue_settings import managers
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The manager exits at start, even if both set the same values.

    Source: pkg/config/validation.go, LoadAndValidateFeatureGates; v0.13, ValidateFeatureGates.
    """
    for controller in facts.cluster.derive(managers):
        if controller.gates_at is None:
            continue
        for entry in facts.cluster.kueue_configurations:
            if entry.fields.feature_gates:
                yield Hit(
                    RULE,
                    f"featureGates of the Configuration and --feature-gates of {controller.object} "
                    "are both set, so Kueue does not start; remove --feature-gates",
                    entry.at / "featureGates",
                    related=(controller.gates_at,),
                )


RULE = ObjectRule(
    "feature-gates-set-twice",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Remove --feature-gates from the command line.",
    judges=("Configuration",),
    check=check,
    reads=("Deployment",),
    aliases=("feature-gates-given-twice",),
)
