"""Why Kueue would not admit a pod in a flavor, and what a user changes."""

from typing import NamedTuple

from policygen.core.finding import Path
from policygen.core.quoting import as_yaml, listed
from policygen.kubernetes.core import TaintView
from policygen.kubernetes.flavor_match import required_terms, selects_flavor, untolerated
from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.workloads import PodSpec
from policygen.lint.core.near_tolerations import near_toleration
from policygen.lint.core.refused_pods import named

OF_FLAVOR = "the flavor"
"""Where a toleration is: not in the pods."""
_TERMS = ("affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")


class FlavorRefusal(NamedTuple):
    """Why Kueue skips a flavor for a pod."""

    reason: str
    path: Path
    """The field below the pod spec that a user changes."""
    advice: str
    where: str = ""
    """Where the toleration is that only needs another value or effect; empty if there is none."""


def refusal(flavor: ResourceFlavorView, pod: PodSpec) -> FlavorRefusal | None:
    """Why Kueue skips the flavor for the pod; None if it does not."""
    taint = untolerated(flavor, pod.tolerations)
    if taint is not None:
        return _of_taint(flavor, taint, pod)
    if not (pod.node_selector or pod.affinity):
        return None  # the usual case
    labels, terms = flavor.node_labels, required_terms(pod)
    if selects_flavor(pod.node_selector, terms, labels):
        return None
    for key, value in pod.node_selector.items():
        if labels.get(key, value) != value:
            reason = f"{key} is {labels[key]}, not {value}"
            advice = f"write {key}: {as_yaml(labels[key])} in nodeSelector"
            return FlavorRefusal(reason, ("nodeSelector", key), advice)
    relevant = [[it for it in term if it.key in labels] for term in terms]
    wrong = next(it for it in relevant[0] if not it.holds(labels))
    if len(relevant) > 1 or wrong.operator != "In":
        advice = f"change {wrong.key} in nodeAffinity"
        return FlavorRefusal("the required node affinity does not match", _TERMS, advice)
    reason = f"{wrong.key} is {labels[wrong.key]}, not {listed(list(wrong.values))}"
    path = (*_TERMS, 0, "matchExpressions", terms[0].index(wrong), "values")
    return FlavorRefusal(reason, path, f"write {as_yaml(labels[wrong.key])} in nodeAffinity")


def _of_taint(flavor: ResourceFlavorView, taint: TaintView, pod: PodSpec) -> FlavorRefusal:
    """What is wrong with the tolerations; a toleration with another value or effect is near."""
    for where, own in (("the pods", pod.tolerations), (OF_FLAVOR, flavor.tolerations)):
        near = near_toleration(own, [taint], flavor.node_taints)
        if near and near.field in ("value", "effect"):
            value = getattr(taint, near.field)
            fact = f"{near.field} {value}" if value else f"no {near.field}"
            reason = (
                f"taint {taint.key} has {fact}, but its toleration in {where} has "
                f"{near.written or 'none'}"
            )
            path = near.path if where == "the pods" else near.path[:1]
            return FlavorRefusal(reason, path, f"{near.advice} in the toleration of {where}", where)
    reason = f"taint {taint.key} is not tolerated"
    return FlavorRefusal(reason, ("tolerations",), f"add a toleration for taint {named(taint)}")


def keys(pod: PodSpec) -> set[str]:
    """The label keys by which a pod selects its nodes."""
    return {*pod.node_selector, *(it.key for term in required_terms(pod) for it in term)}
