"""Whether pods match a flavor. Kueue reads only labels that the flavor has.

Source: pkg/scheduler/flavorassigner/flavorassigner.go of Kueue 0.19.2, checkFlavorForPodSets and
flavorSelector.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from policygen.core.tolerations import tolerates
from policygen.kubernetes.core import Requirement, TaintView, TolerationView, requirements
from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.node_filters import HARD, REQUIRED
from policygen.kubernetes.untyped import mappings
from policygen.kubernetes.workloads import PodSpec

Terms = Iterable[tuple[Requirement, ...]]


def untolerated(
    flavor: ResourceFlavorView, tolerations: Iterable[TolerationView]
) -> TaintView | None:
    """The first taint that neither the pods nor the flavor tolerate."""
    if not flavor.node_taints:
        return None
    allowed = (*tolerations, *flavor.tolerations)
    for taint in flavor.node_taints:
        if taint.effect in HARD and not any(tolerates(it, taint) for it in allowed):
            return taint
    return None


def selects_flavor(selector: Mapping[str, str], terms: Terms, labels: Mapping[str, str]) -> bool:
    """Whether a node selector and the terms of a node affinity match the labels of a flavor.

    A term without any of these labels lets every flavor match.
    """
    if any(labels.get(key, value) != value for key, value in selector.items()):
        return False
    kept = [[it for it in term if it.key in labels] for term in terms]
    return not all(kept) or not kept or any(all(it.holds(labels) for it in term) for term in kept)


def required_terms(pod: PodSpec) -> tuple[tuple[Requirement, ...], ...]:
    """The expressions of each term of the required node affinity."""
    if not pod.affinity:
        return ()
    terms = mappings(pod.affinity, "nodeAffinity", REQUIRED, "nodeSelectorTerms")
    return tuple(requirements(term.get("matchExpressions")) for term in terms)


def with_flavors(pod: PodSpec, flavors: Iterable[ResourceFlavorView]) -> PodSpec:
    """The pod with the node selectors and tolerations of its flavors.

    Source: pkg/podset/podset.go, FromAssignment and Merge.
    """
    selector, tolerations = dict(pod.node_selector), [*pod.tolerations]
    for it in flavors:
        selector |= it.node_labels
        tolerations += (one for one in it.tolerations if one not in tolerations)
    return replace(pod, node_selector=selector, tolerations=tuple(tolerations))
