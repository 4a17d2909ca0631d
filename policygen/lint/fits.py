"""Whether Kueue would give a pod a flavor, by what the pod says about nodes.

Source: pkg/scheduler/flavorassigner/flavorassigner.go of Kueue 0.19.2, checkFlavorForPodSets and
flavorSelector.
"""

from typing import Any

from policygen.cluster.core import Requirement
from policygen.cluster.kueue import ResourceFlavor
from policygen.cluster.workload import PodSpec
from policygen.lint.flavor_nodes import HARD
from policygen.lint.kueue_settings import mappings, texts


def refusal(flavor: ResourceFlavor, pod: PodSpec) -> str | None:
    """Why the flavor is skipped for the pod; None if it is not."""
    for taint in flavor.node_taints:
        if taint.effect in HARD and not any(
            it.tolerates(taint) for it in (*pod.tolerations, *flavor.tolerations)
        ):
            return f"taint {taint.key} is not tolerated"
    labels = flavor.node_labels
    for key, value in pod.node_selector.items():
        if key in labels and labels[key] != value:
            return f"{key} is {labels[key]} and not {value}"
    terms = required_terms(pod)
    heeded = [[it for it in term if it.key in labels] for term in terms]
    if all(heeded) and heeded and not any(_match(term, labels) for term in heeded):
        return "the required node affinity does not match"
    return None


def required_terms(pod: PodSpec) -> list[list[Requirement]]:
    """The expressions of each term of the required node affinity."""
    node: Any = pod.affinity.get("nodeAffinity")
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    required = node.get(field) if isinstance(node, dict) else None
    terms = mappings(required.get("nodeSelectorTerms")) if isinstance(required, dict) else []
    return [
        [
            Requirement(
                str(each.get("key", "")), str(each.get("operator", "")), texts(each.get("values"))
            )
            for each in mappings(term.get("matchExpressions"))
        ]
        for term in terms
    ]


def keys(pod: PodSpec) -> set[str]:
    """The labels by which a pod chooses its nodes."""
    return {*pod.node_selector, *(it.key for term in required_terms(pod) for it in term)}


def _match(term: list[Requirement], labels: dict[str, str]) -> bool:
    return all(_holds(it, labels[it.key]) for it in term)


def _holds(it: Requirement, value: str) -> bool:
    if it.operator in ("Gt", "Lt"):
        try:
            one, other = int(value), int(it.values[0])
        except (ValueError, IndexError):
            return False
        return one > other if it.operator == "Gt" else one < other
    if it.operator == "In":
        return value in it.values
    if it.operator == "NotIn":
        return value not in it.values
    return it.operator == "Exists"
