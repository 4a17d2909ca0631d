"""A label selector has an operator, key or value that it cannot have."""

from collections.abc import Iterator

from policygen.cluster.core import Requirement
from policygen.finding import Path, Severity
from policygen.lint import selectors
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.spec.echo import quoted
from policygen.spec.labels import key_fault, value_fault

_WITH_VALUES = ("In", "NotIn")
_WITHOUT = ("Exists", "DoesNotExist")


def check(facts: Facts) -> Iterator[Claim]:
    """Source: k8s.io/apimachinery, pkg/apis/meta/v1/validation, ValidateLabelSelector."""
    for who, at, it in selectors.selectors(facts.cluster):
        for key, value in it.match_labels.items():
            for fault in (key_fault(key), value_fault(value)):
                if fault:
                    yield Claim(f"{who}: {fault}", at.to("matchLabels", key))
        for i, each in enumerate(it.match_expressions):
            for fault, steps in _expression(each):
                if fault:
                    yield Claim(f"{who}: {fault}", at.to("matchExpressions", i, *steps))


def _expression(it: Requirement) -> Iterator[tuple[str | None, Path]]:
    yield key_fault(it.key), ("key",)
    if it.operator not in (*_WITH_VALUES, *_WITHOUT):
        known = "In, NotIn, Exists or DoesNotExist"
        yield f"{quoted(it.operator)} is no operator; write {known}", ("operator",)
    elif it.operator in _WITH_VALUES and not it.values:
        yield f"{it.operator} stands without values; write some, or Exists", ("values",)
    elif it.operator in _WITHOUT and it.values:
        yield f"{it.operator} takes no values; remove them, or write In", ("values",)
    yield from ((value_fault(value), ("values", j)) for j, value in enumerate(it.values))


RULE = Rule(
    "selector-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=("ClusterQueue", *selectors.OWNERS),
    check=check,
)
