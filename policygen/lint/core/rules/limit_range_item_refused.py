"""An entry of a LimitRange has a type that there is not, or twice, or a field that its type cannot have."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.label_grammar import key_fault
from policygen.core.quoting import quoted
from policygen.core.rule import Severity
from policygen.kubernetes.core import LimitRangeItem
from policygen.lint.core.standard_resources import known_to_quota
from policygen.lint.rule import Facts, Family, ObjectRule

_TYPES = ("Container", "Pod", "PersistentVolumeClaim")


def check(facts: Facts) -> Iterator[Hit]:
    """Source: pkg/apis/core/validation/validation.go, ValidateLimitRange."""
    for entry in facts.cluster.limit_ranges:
        seen: dict[str, int] = {}
        for i, item in enumerate(entry.it.limits):
            at = entry.at.to("spec", "limits", i)
            if item.type not in _TYPES and "/" not in item.type:
                yield Hit(
                    RULE,
                    f"{entry} limits {quoted(item.type)}, which is refused; write "
                    f"{', '.join(_TYPES)}, or a name with a domain",
                    at / "type",
                )
            first = seen.setdefault(item.type, i)
            if first != i:
                yield Hit(
                    RULE,
                    f"{entry} has two entries of type {item.type}, which is refused; put them "
                    "together",
                    at / "type",
                    (entry.at.to("spec", "limits", first, "type"),),
                )
            defaults = {"default": item.default, "defaultRequest": item.default_request}
            for field, amounts in defaults.items():
                if item.type == "Pod" and amounts:
                    yield Hit(
                        RULE,
                        f"{entry} has a {field} for whole pods, which is refused: defaults are for "
                        "containers; write type: Container",
                        at / field,
                    )
            for field, name in _strange(item):
                yield Hit(
                    RULE,
                    f"{entry} limits {quoted(name)}, which is no name of a resource; write one with "
                    "a domain, or storage",
                    (at / field / name).on_key(),
                )
            if item.type == "PersistentVolumeClaim" and "storage" not in {**item.min, **item.max}:
                yield Hit(
                    RULE,
                    f"{entry} limits claims and says neither min nor max of storage; write one",
                    at,
                )


def _strange(item: LimitRangeItem) -> Iterator[tuple[str, str]]:
    """Of what is no pod's: names that no resource has, and their fields."""
    if item.type in {"Container", "Pod"}:
        return  # `container-resource-refused` tells
    for field, amounts in item.by_field.items():
        yield from (
            (field, name)
            for name in amounts
            if key_fault(name) or not (known_to_quota(name) or name == "storage")
        )


RULE = ObjectRule(
    "limit-range-item-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("LimitRange",),
    check=check,
)
