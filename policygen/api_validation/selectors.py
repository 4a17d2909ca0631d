"""What the code of the API server refuses in selectors, and in budgets of the pods that they select."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.api_validation.fields import mapping, numbered, strings
from policygen.api_validation.refusal import Reason, Refusal
from policygen.core import go_values
from policygen.core.finding import Path
from policygen.core.label_grammar import key_fault, value_fault
from policygen.core.quoting import quoted
from policygen.core.suggest import suggest

_OPERATORS = ("DoesNotExist", "Exists", "In", "NotIn")
_AMOUNTS = ("minAvailable", "maxUnavailable")
_ALL = 100


def label_selector(selector: Mapping[str, Any], at: Path) -> Iterator[Refusal]:
    """The refusals of a selector by labels.

    Source: k8s.io/apimachinery pkg/apis/meta/v1/validation, ValidateLabelSelector.
    """
    for label, value in mapping(selector, "matchLabels").items():
        text = value if isinstance(value, str) else ""
        if fault := key_fault(label) or value_fault(text):
            yield Refusal((*at, "matchLabels", label), Reason.LABEL, fault)
    for i, each in numbered(selector, "matchExpressions"):
        here: Path = (*at, "matchExpressions", i)
        key, operator, values = each.get("key"), each.get("operator"), strings(each, "values")
        if isinstance(key, str) and (fault := key_fault(key)):
            yield Refusal((*here, "key"), Reason.LABEL, fault)
        if operator in ("In", "NotIn") and not each.get("values"):
            message = f"operator {operator} needs values; write values, or the operator Exists"
            yield Refusal((*here, "values"), Reason.MISSING_FIELD, message)
        elif operator in ("Exists", "DoesNotExist") and values:
            message = f"operator {operator} has values, which is refused; remove values, or write the operator In"
            yield Refusal((*here, "values"), Reason.VALUE, message)
        elif isinstance(operator, str) and operator not in _OPERATORS:
            message = f"operator {quoted(operator)} is refused; {suggest(operator, _OPERATORS)}"
            yield Refusal((*here, "operator"), Reason.VALUE, message)
        for number, value in enumerate(values):
            if fault := value_fault(value):
                yield Refusal((*here, "values", number), Reason.LABEL, fault)


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
