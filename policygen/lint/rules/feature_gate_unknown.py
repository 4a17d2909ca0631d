"""Kueue's Configuration sets a feature gate that the release does not have, or has locked."""

from collections.abc import Iterator

from policygen.finding import Edit, Severity, Verb
from policygen.lint import kueue_gates
from policygen.lint.rule import Claim, Facts, Family, Fix, Rule
from policygen.spec.nearest import suggest

_ALL = ("AllAlpha", "AllBeta")
"""Gates that stand for others, in every program of Kubernetes."""


def check(facts: Facts) -> Iterator[Claim]:
    """The manager exits at start.

    Source: pkg/config/validation.go, LoadAndValidateFeatureGates; pkg/features/kube_features.go.
    """
    target = facts.target["kueue"]
    names = kueue_gates.names(target)
    for entry in facts.cluster.kueue_configurations:
        for gate, value in entry.it.feature_gates.items():
            at = entry.at.to("featureGates", gate)
            if gate in _ALL:
                continue
            if gate not in names:
                yield Claim(
                    f'Kueue {target} does not start with feature gate "{gate}", which it does not '
                    f"have; {suggest(gate, names)}",
                    at.on_key(),
                )
            elif kueue_gates.locked(gate, target) and value != kueue_gates.on(gate, target):
                fixed = str(not value).lower()
                yield Claim(
                    f"Kueue {target} does not start with feature gate {gate} switched, since it is "
                    f"fixed at {fixed}; take it out",
                    at,
                    edits=(Edit(Verb.REMOVE, at),),
                )


RULE = Rule(
    "feature-gate-unknown",
    Severity.ERROR,
    Family.INVALID,
    judges=("Configuration",),
    check=check,
    fix=Fix.SAFE,
)
