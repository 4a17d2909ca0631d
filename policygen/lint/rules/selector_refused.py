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
    for who, way, it in selectors.selectors(facts.cluster):
        for key, value in it.match_labels.items():
            for fault in (key_fault(key), value_fault(value)):
                if fault:
                    yield Claim(f"{who}: {fault}", who.at.to(*way, "matchLabels", key))
        for i, each in enumerate(it.match_expressions):
            for said, steps in _expression(each):
                yield Claim(f"{who}: {said}", who.at.to(*way, "matchExpressions", i, *steps))


def _expression(it: Requirement) -> list[tuple[str, Path]]:
    found: list[tuple[str, Path]] = []
    if fault := key_fault(it.key):
        found.append((fault, ("key",)))
    if it.operator in _WITH_VALUES:
        if not it.values:
            found.append(
                (f"{it.operator} stands without values; write some, or Exists", ("values",))
            )
    elif it.operator not in _WITHOUT:
        known = "In, NotIn, Exists or DoesNotExist"
        found.append((f"{quoted(it.operator)} is no operator; write {known}", ("operator",)))
    elif it.values:
        found.append((f"{it.operator} takes no values; remove them, or write In", ("values",)))
    for j, value in enumerate(it.values):
        if fault := value_fault(value):
            found.append((fault, ("values", j)))
    return found


RULE = Rule(
    "selector-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=("ClusterQueue", *selectors.OWNERS),
    check=check,
)
