"""Refused selectors, weights and skews in the affinity and topology spread of a pod.

Source: pkg/apis/core/validation/validation.go of Kubernetes 1.36.3, validateAffinity.
"""

from collections.abc import Iterator
from typing import Any

from policygen.api_validation.fields import strings
from policygen.api_validation.metadata import is_subdomain
from policygen.api_validation.selectors import expression_faults
from policygen.core.finding import FaultAt
from policygen.core.label_grammar import key_fault, value_fault
from policygen.core.quoting import listed, quoted
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.pod_terms import PREFERRED
from policygen.lint.core import pod_templates
from policygen.lint.core.pod_templates import Part

_WITH_VALUES = ("In", "NotIn")
_WITHOUT = ("Exists", "DoesNotExist")
_ORDERED = ("Gt", "Lt")
_HEAVIEST = 100


def of_pod(spec: Part) -> Iterator[FaultAt]:
    """What is refused in a pod, in its fields with selectors."""
    yield from _skews(spec)
    yield from _affinity(spec)


def _skews(spec: Part) -> Iterator[FaultAt]:
    for constraint in spec.items("topologySpreadConstraints"):
        skew = constraint.data.get("maxSkew", 0)
        if isinstance(skew, int | None) and (skew or 0) <= 0:
            yield (
                constraint.at / "maxSkew",
                f"{spec.owner} has maxSkew {skew or 0}, which is refused; write at least 1",
            )


def _affinity(spec: Part) -> Iterator[FaultAt]:
    affinity = spec.under("affinity")
    spread = list(spec.items("topologySpreadConstraints"))
    terms = list(spread)
    for key in ("nodeAffinity", "podAffinity", "podAntiAffinity"):
        for term in affinity.under(key).items(PREFERRED):
            weight = term.data.get("weight", 0)
            if isinstance(weight, int | None) and not 1 <= (weight or 0) <= _HEAVIEST:
                yield (
                    term.at / "weight",
                    f"{spec.owner} has a preferred affinity with weight {weight or 0}, which is refused; write 1 to {_HEAVIEST}",
                )
            terms.append(term.under("podAffinityTerm"))
            yield from _expressions(term.under("preference"))
            yield from _fields(term.under("preference"))
        if key != "nodeAffinity":
            terms += affinity.under(key).items(REQUIRED)
    for term in affinity.under("nodeAffinity").under(REQUIRED).items("nodeSelectorTerms"):
        yield from _expressions(term)
        yield from _fields(term)
        yield from _values(term)
    for term in terms[len(spread) :]:
        domain = term.data.get("topologyKey")
        if isinstance(domain, str) and (fault := key_fault(domain)):
            yield term.at / "topologyKey", f"{spec.owner}: {fault}"
    for term in terms:
        for key in ("labelSelector", "namespaceSelector"):
            yield from label_selector_faults(term.under(key))


def label_selector_faults(selector: Part) -> Iterator[FaultAt]:
    """The faults of a selector of labels, such as those of pods and namespaces."""
    for expression in selector.items("matchExpressions"):
        key, operator = expression.data.get("key"), expression.data.get("operator")
        if isinstance(key, str) and isinstance(operator, str):
            values = strings(expression.data, "values")
            for path, _, fault in expression_faults(key, operator, values):
                yield expression.at.to(*path), f"{expression.owner}: {fault}"
    yield from pod_templates.label_faults(selector.under("matchLabels"))


def _expressions(selector: Part) -> Iterator[FaultAt]:
    """Of a selector of nodes. The schema lists the valid operators, but does not refuse an empty one."""
    for expression in selector.items("matchExpressions"):
        operator, values = expression.data.get("operator"), expression.data.get("values")
        values = [] if values is None else values
        if not isinstance(operator, str) or not isinstance(values, list):
            continue
        who, key = expression.owner, expression.data.get("key")
        if not operator:
            known = [*_WITH_VALUES, *_WITHOUT, *_ORDERED]
            yield (
                expression.at / "operator",
                f"{who} selects nodes by an empty operator, which is refused; write {listed(known)}",
            )
        elif operator in _WITH_VALUES and not values:
            yield (
                expression.at,
                f"{who} selects nodes by operator {operator} without values; write at least one value, or use Exists",
            )
        elif operator in _WITHOUT and values:
            yield (
                expression.at / "values",
                f"{who} selects nodes by operator {operator}, which takes no values; remove the values, or use In",
            )
        elif operator in _ORDERED and len(values) != 1:
            yield (
                expression.at,
                f"{who} selects nodes by operator {operator}, which takes exactly one value; write one integer",
            )
        if isinstance(key, str) and (fault := key_fault(key)):
            yield expression.at / "key", f"{expression.owner}: {fault}"


def _fields(selector: Part) -> Iterator[FaultAt]:
    for expression in selector.items("matchFields"):
        who, key = expression.owner, expression.data.get("key")
        operator, values = (expression.data.get(it) for it in ("operator", "values"))
        if isinstance(key, str) and key != "metadata.name":
            yield (
                expression.at / "key",
                f"{who} selects nodes by field {quoted(key)}, which is refused; write metadata.name",
            )
        if isinstance(operator, str) and operator not in _WITH_VALUES:
            if not operator or operator in (*_WITHOUT, *_ORDERED):  # the schema refuses others
                yield (
                    expression.at / "operator",
                    f"{who} selects nodes by a field and operator {quoted(operator)}, which is refused; write In or NotIn",
                )
        elif isinstance(values, list | None) and len(values or ()) != 1:
            yield (
                expression.at,
                f"{who} selects nodes by a field with {len(values or ())} values, which is refused; write one value",
            )
        for index, value in enumerate(values if isinstance(values, list) else ()):
            if isinstance(value, str) and not is_subdomain(value):
                yield (
                    expression.at.to("values", index),
                    f"{who} selects the node {quoted(value)}, which is not a valid name; write the name of a node",
                )


def _values(selector: Part) -> Iterator[FaultAt]:
    """Checks the values of expressions. Preferences for nodes are skipped: they accept any value."""
    for expression in selector.items("matchExpressions"):
        values: Any = expression.data.get("values")
        takes_values = expression.data.get("operator") in (*_WITH_VALUES, *_ORDERED)
        if not takes_values or not isinstance(values, list):
            continue
        for index, value in enumerate(values):
            if isinstance(value, str) and (fault := value_fault(value)):
                yield expression.at / "values" / index, f"{expression.owner}: {fault}"
