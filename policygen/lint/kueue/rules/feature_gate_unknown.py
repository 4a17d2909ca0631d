"""A feature gate does not exist in this Kueue release, or is locked to another value."""

from collections.abc import Iterator

from policygen.core.finding import At
from policygen.core.suggest import suggest
from policygen.kubernetes import kueue_gates
from policygen.kubernetes.kueue_settings import managers
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb

_ALL = ("AllAlpha", "AllBeta")
"""Gates that switch groups of gates, in every program of Kubernetes."""


def check(facts: Facts) -> Hits:
    """The manager exits at start. Gates are set in its Configuration or on its command line.

    Source: pkg/config/validation.go, LoadAndValidateFeatureGates; pkg/features/kube_features.go.
    """
    target = facts.target["kueue"]
    names = kueue_gates.names(target)
    for gate, value, at, edits in _given(facts):
        if gate in _ALL:
            continue
        if gate not in names:
            yield Hit(
                RULE,
                f'feature gate "{gate}" does not exist in Kueue {target}, so Kueue does not start; '
                f"{suggest(gate, names)}",
                at.on_key() if edits else at,
            )
        elif kueue_gates.locked(gate, target) and value != kueue_gates.on(gate, target):
            locked = str(not value).lower()
            yield Hit(
                RULE,
                f"feature gate {gate} is locked to {locked} in Kueue {target}, so Kueue does not "
                "start with another value; remove the gate",
                at,
                edits=edits,
            )


def _given(facts: Facts) -> Iterator[tuple[str, bool, At, tuple[Edit, ...]]]:
    """Each gate with its value, its place, and the edits that remove it."""
    for entry in facts.cluster.kueue_configurations:
        for gate, value in entry.fields.feature_gates.items():
            at = entry.at.to("featureGates", gate)
            yield gate, bool(value), at, (Edit(Verb.REMOVE, at),)
    for controller in facts.cluster.derive(managers):
        if controller.gates_at:
            for gate, value in controller.gates.items():
                yield gate, value, controller.gates_at, ()


RULE = ObjectRule(
    "feature-gate-unknown",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Remove the feature gate, or write its new name.",
    judges=("Configuration", "Deployment"),
    check=check,
    fix=Fix.SAFE,
)
