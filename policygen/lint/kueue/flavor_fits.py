"""Whether Kueue would give a pod a flavor, by what the pod says about nodes.

Source: pkg/scheduler/flavorassigner/flavorassigner.go of Kueue 0.19.2, checkFlavorForPodSets and
flavorSelector.
"""

from policygen.core.tolerations import tolerates
from policygen.kubernetes.core import Requirement
from policygen.kubernetes.kueue import ResourceFlavor
from policygen.kubernetes.untyped import mappings
from policygen.kubernetes.workloads import PodSpec
from policygen.lint.core.selectors import requirements
from policygen.lint.kueue.flavor_nodes import HARD


def refusal(flavor: ResourceFlavor, pod: PodSpec) -> str | None:
    """Why the flavor is skipped for the pod; None if it is not."""
    for taint in flavor.node_taints:
        if taint.effect in HARD and not any(
            tolerates(it, taint) for it in (*pod.tolerations, *flavor.tolerations)
        ):
            return f"taint {taint.key} is not tolerated"
    labels = flavor.node_labels
    for key, value in pod.node_selector.items():
        if key in labels and labels[key] != value:
            return f"{key} is {labels[key]} and not {value}"
    terms = required_terms(pod)
    heeded = [[it for it in term if it.key in labels] for term in terms]
    if all(heeded) and heeded and not any(all(it.holds(labels) for it in term) for term in heeded):
        return "the required node affinity does not match"
    return None


def required_terms(pod: PodSpec) -> list[tuple[Requirement, ...]]:
    """The expressions of each term of the required node affinity."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = mappings(pod.affinity, "nodeAffinity", required, "nodeSelectorTerms")
    return [requirements(term.get("matchExpressions")) for term in terms]


def keys(pod: PodSpec) -> set[str]:
    """The labels by which a pod chooses its nodes."""
    return {*pod.node_selector, *(it.key for term in required_terms(pod) for it in term)}
