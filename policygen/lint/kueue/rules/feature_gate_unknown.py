"""Kueue is given a feature gate that the release does not have, or has locked."""

from collections.abc import Iterator

from policygen.core.finding import At, Edit, Hit, Verb
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.controllers import KUEUE, controllers
from policygen.lint.kueue import feature_gates
from policygen.lint.rule import Facts, Family, Fix, ObjectRule

_ALL = ("AllAlpha", "AllBeta")
"""Gates that stand for others, in every program of Kubernetes."""


def check(facts: Facts) -> Iterator[Hit]:
    """The manager exits at start. Gates are given in its Configuration, or on its command line.

    Source: pkg/config/validation.go, LoadAndValidateFeatureGates; pkg/features/kube_features.go.
    """
    target = facts.target["kueue"]
    names = feature_gates.names(target)
    for gate, value, at, edits in _given(facts):
        if gate in _ALL:
            continue
        if gate not in names:
            yield Hit(
                RULE,
                f'Kueue {target} does not start with feature gate "{gate}", which it does not '
                f"have; {suggest(gate, names)}",
                at.on_key() if edits else at,
            )
        elif feature_gates.locked(gate, target) and value != feature_gates.on(gate, target):
            fixed = str(not value).lower()
            yield Hit(
                RULE,
                f"Kueue {target} does not start with feature gate {gate} switched, since it is "
                f"fixed at {fixed}; take it out",
                at,
                edits=edits,
            )


def _given(facts: Facts) -> Iterator[tuple[str, bool, At, tuple[Edit, ...]]]:
    """Each gate, how it is switched, where, and what takes it out."""
    for entry in facts.cluster.kueue_configurations:
        for gate, value in entry.it.feature_gates.items():
            at = entry.at.to("featureGates", gate)
            yield gate, value, at, (Edit(Verb.REMOVE, at),)
    for it in controllers(facts.cluster.of("apps", "Deployment")):
        if it.component == KUEUE and it.gates_at:
            for gate, value in it.gates.items():
                yield gate, value, it.gates_at, ()


RULE = ObjectRule(
    "feature-gate-unknown",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("Configuration", "Deployment"),
    check=check,
    fix=Fix.SAFE,
)
