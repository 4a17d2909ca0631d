"""What the code of the API server refuses in selectors, and in budgets of the pods that they select."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policygen.api_validation.fields import mapping, numbered, strings
from policygen.api_validation.refusal import Reason, Refusal
from policygen.core import go_values
from policygen.core.finding import Path
from policygen.core.label_grammar import key_fault, value_fault
from policygen.core.quoting import quoted
from policygen.core.suggest import suggest

_WITH_VALUES, _WITHOUT_VALUES = ("In", "NotIn"), ("DoesNotExist", "Exists")
_UNHEALTHY = "unhealthyPodEvictionPolicy"
_AMOUNTS = ("minAvailable", "maxUnavailable")
_ALL = 100


def label_selector(selector: Mapping[str, Any], at: Path) -> Iterator[Refusal]:
    """The refusals of a selector by labels; skips expressions of a wrong type.

    Source: k8s.io/apimachinery pkg/apis/meta/v1/validation, ValidateLabelSelector.
    """
    for label, value in mapping(selector, "matchLabels").items():
        text = value if isinstance(value, str) else ""
        if fault := key_fault(label) or value_fault(text):
            yield Refusal((*at, "matchLabels", label), Reason.LABEL, fault)
    for i, each in numbered(selector, "matchExpressions"):
        key, operator = each.get("key"), each.get("operator")
        if isinstance(key, str) and isinstance(operator, str):
            for path, reason, message in expression_faults(key, operator, strings(each, "values")):
                yield Refusal((*at, "matchExpressions", i, *path), reason, message)


def expression_faults(
    key: str, operator: str, values: Sequence[str]
) -> Iterator[tuple[Path, Reason, str]]:
    """What is refused in one expression of a selector by labels, with paths below the expression."""
    if fault := key_fault(key):
        yield ("key",), Reason.LABEL, fault
    if operator in _WITHOUT_VALUES:
        if values:
            message = f"operator {operator} takes no values; remove the values, or use In"
            yield ("values",), Reason.VALUE, message
        return
    if operator not in _WITH_VALUES:
        known = (*_WITH_VALUES, *_WITHOUT_VALUES)
        message = f"operator {quoted(operator)} is not valid; {suggest(operator, known)}"
        yield ("operator",), Reason.VALUE, message
    elif not values:
        message = f"operator {operator} needs values; write at least one value, or use Exists"
        yield ("values",), Reason.MISSING_FIELD, message
    for number, value in enumerate(values):
        if fault := value_fault(value):
            yield ("values", number), Reason.LABEL, fault


def disruption_budget(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    """The refusals of a PodDisruptionBudget; skips fields of a wrong type.

    Source: pkg/apis/policy/validation/validation.go, ValidatePodDisruptionBudgetSpec.
    """
    spec = mapping(thing, "spec")
    if all(spec.get(name) is not None for name in _AMOUNTS):
        message = "a budget cannot have both minAvailable and maxUnavailable; remove one of them"
        yield Refusal(("spec", "maxUnavailable"), Reason.VALUE, message)
    for name in _AMOUNTS:
        amount = spec.get(name)
        if fault := _amount_fault(amount):
            yield Refusal(("spec", name), Reason.RANGE, f"{name} {quoted(str(amount))} {fault}")
    if spec.get(_UNHEALTHY) == "":  # the schema refuses other values
        message = f"{_UNHEALTHY} is empty, which is refused; remove this field"
        yield Refusal(("spec", _UNHEALTHY), Reason.VALUE, message)
    yield from label_selector(mapping(spec, "selector"), ("spec", "selector"))


def _amount_fault(amount: object) -> str:
    if isinstance(amount, int) and amount < 0:
        return "is negative, which is refused; write 0 or more"
    if not isinstance(amount, str):
        return ""
    percentage = go_values.percentage(amount)
    if percentage is None:
        return 'is not valid; write an integer, or a percentage such as "50%"'
    return "is refused; write at most 100%" if percentage > _ALL else ""
