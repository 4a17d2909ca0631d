"""The terms of pod affinity and anti-affinity, and which pods they select.

Source: pkg/scheduler/framework/types.go (AffinityTerm) and pkg/registry/core/pod/strategy.go
(applyMatchLabelKeysAndMismatchLabelKeys) of Kubernetes 1.36.3.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from policygen.core.finding import Path
from policygen.kubernetes.core import LabelSelector, Requirement, requirements
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.untyped import (
    integer,
    keyed_texts,
    mapping,
    mappings,
    numbered,
    text,
    texts,
)

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class TermKind(Enum):
    """What a pod affinity term does."""

    PREFERRED = "preferred"
    TOGETHER = "podAffinity"
    APART = "podAntiAffinity"


class PodTerm(Struct, frozen=True):
    """A pod affinity term, in the namespaces of its pod."""

    kind: TermKind
    key: str
    """The label whose value is the domain."""
    weight: int
    """Negative for preferred anti-affinity; 0 for a required term."""
    selector: LabelSelector | None
    """None: it selects no pod."""
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None

    def matches(
        self, namespace: str, of_namespace: Mapping[str, str], labels: Mapping[str, str]
    ) -> bool:
        """Whether a pod in a namespace with these labels is meant."""
        selected = self.namespace_selector
        if namespace not in self.namespaces and not (selected and selected.selects(of_namespace)):
            return False
        return self.selector is not None and self.selector.selects(labels)


def preferred_terms(
    affinity: Mapping[str, Any], namespace: str, labels: Mapping[str, str]
) -> Iterator[PodTerm]:
    """The preferred terms of a pod with these labels."""
    for field, sign in (("podAffinity", 1), ("podAntiAffinity", -1)):
        for it in mappings(affinity, field, PREFERRED):
            weight = integer(it.get("weight")) or 0
            term = mapping(it, "podAffinityTerm")
            yield _term(term, TermKind.PREFERRED, sign * weight, namespace, labels)


def required_terms(
    affinity: Mapping[str, Any], kind: TermKind, namespace: str, labels: Mapping[str, str]
) -> Iterator[tuple[Path, PodTerm]]:
    """The required terms of one kind, each with its path below the pod spec."""
    for i, it in numbered(affinity, kind.value, REQUIRED):
        yield ("affinity", kind.value, REQUIRED, i), _term(it, kind, 0, namespace, labels)


def selector_of(data: Any) -> LabelSelector | None:
    """A label selector; None if it is missing, which selects nothing."""
    if not isinstance(data, dict):
        return None
    return LabelSelector(
        dict(keyed_texts(data, "matchLabels")), requirements(data.get("matchExpressions"))
    )


def with_labels(
    selector: LabelSelector | None, data: Mapping[str, Any], labels: Mapping[str, str]
) -> LabelSelector | None:
    """The selector of a term or constraint, limited by its match label keys, whose values are the pod's."""
    added = [
        Requirement(key, operator, (labels[key],))
        for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in texts(data, field)
        if key in labels
    ]
    if selector is None or not added:
        return selector
    return LabelSelector(selector.match_labels, (*selector.match_expressions, *added))


def _term(
    data: Mapping[str, Any],
    kind: TermKind,
    weight: int,
    namespace: str,
    labels: Mapping[str, str],
) -> PodTerm:
    names = frozenset(texts(data, "namespaces"))
    selected = selector_of(data.get("namespaceSelector"))
    own = frozenset({namespace}) if not names and selected is None else names
    selector = with_labels(selector_of(data.get("labelSelector")), data, labels)
    return PodTerm(kind, text(data, "topologyKey"), weight, selector, own, selected)
