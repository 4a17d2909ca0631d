"""Whether Kueue would admit a pod in a flavor, by the pod's constraints on nodes.

Source: pkg/scheduler/flavorassigner/flavorassigner.go of Kueue 0.19.2, checkFlavorForPodSets and
flavorSelector.
"""

from typing import NamedTuple

from policygen.core.finding import Path
from policygen.core.quoting import listed
from policygen.core.tolerations import tolerates
from policygen.kubernetes.core import Requirement
from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.untyped import mappings
from policygen.kubernetes.workloads import PodSpec
from policygen.lint.core.selectors import requirements
from policygen.lint.kueue.flavor_nodes import HARD

_TERMS = (
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
)


class FlavorRefusal(NamedTuple):
    """Why Kueue skips a flavor for a pod."""

    reason: str
    path: Path
    """The field below the pod spec that a user changes."""
    advice: str


def refusal(flavor: ResourceFlavorView, pod: PodSpec) -> FlavorRefusal | None:
    """Why Kueue skips the flavor for the pod; None if it does not."""
    for taint in flavor.node_taints:
        if taint.effect in HARD and not any(
            tolerates(toleration, taint) for toleration in (*pod.tolerations, *flavor.tolerations)
        ):
            reason = f"taint {taint.key} is not tolerated"
            return FlavorRefusal(
                reason, ("tolerations",), f"add a toleration for taint {taint.key}"
            )
    labels = flavor.node_labels
    for key, value in pod.node_selector.items():
        if key in labels and labels[key] != value:
            reason = f"{key} is {labels[key]}, not {value}"
            advice = f"write {key}: {labels[key]} in nodeSelector"
            return FlavorRefusal(reason, ("nodeSelector", key), advice)
    terms = required_terms(pod)
    # Kueue ignores expressions on labels that the flavor does not have.
    relevant = [[it for it in term if it.key in labels] for term in terms]
    matches = any(all(it.holds(labels) for it in term) for term in relevant)
    if not relevant or not all(relevant) or matches:
        return None
    wrong = next(it for it in relevant[0] if not it.holds(labels))
    if len(relevant) > 1 or wrong.operator != "In":
        advice = f"change {wrong.key} in nodeAffinity"
        return FlavorRefusal("the required node affinity does not match", _TERMS, advice)
    reason = f"{wrong.key} is {labels[wrong.key]}, not {listed(list(wrong.values))}"
    path = (*_TERMS, 0, "matchExpressions", terms[0].index(wrong), "values")
    return FlavorRefusal(reason, path, f"write {labels[wrong.key]} in nodeAffinity")


def required_terms(pod: PodSpec) -> list[tuple[Requirement, ...]]:
    """The expressions of each term of the required node affinity."""
    terms = mappings(pod.affinity, *_TERMS[1:])
    return [requirements(term.get("matchExpressions")) for term in terms]


def keys(pod: PodSpec) -> set[str]:
    """The label keys by which a pod selects its nodes."""
    return {*pod.node_selector, *(it.key for term in required_terms(pod) for it in term)}
