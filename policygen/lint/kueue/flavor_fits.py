"""Whether Kueue would admit a pod in a flavor, by the pod's constraints on nodes.

Source: pkg/scheduler/flavorassigner/flavorassigner.go of Kueue 0.19.2, checkFlavorForPodSets and
flavorSelector.
"""

from policygen.core.tolerations import tolerates
from policygen.kubernetes.core import Requirement
from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.untyped import mappings
from policygen.kubernetes.workloads import PodSpec
from policygen.lint.core.selectors import requirements
from policygen.lint.kueue.flavor_nodes import HARD


def refusal(flavor: ResourceFlavorView, pod: PodSpec) -> str | None:
    """Why Kueue skips the flavor for the pod; None if it does not."""
    for taint in flavor.node_taints:
        if taint.effect in HARD and not any(
            tolerates(toleration, taint) for toleration in (*pod.tolerations, *flavor.tolerations)
        ):
            return f"taint {taint.key} is not tolerated"
    labels = flavor.node_labels
    for key, value in pod.node_selector.items():
        if key in labels and labels[key] != value:
            return f"{key} is {labels[key]}, not {value}"
    terms = required_terms(pod)
    # Kueue ignores expressions on labels that the flavor does not have.
    relevant = [[it for it in term if it.key in labels] for term in terms]
    matches = any(all(it.holds(labels) for it in term) for term in relevant)
    if relevant and all(relevant) and not matches:
        return "the required node affinity does not match"
    return None


def required_terms(pod: PodSpec) -> list[tuple[Requirement, ...]]:
    """The expressions of each term of the required node affinity."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = mappings(pod.affinity, "nodeAffinity", required, "nodeSelectorTerms")
    return [requirements(term.get("matchExpressions")) for term in terms]


def keys(pod: PodSpec) -> set[str]:
    """The label keys by which a pod selects its nodes."""
    return {*pod.node_selector, *(it.key for term in required_terms(pod) for it in term)}
