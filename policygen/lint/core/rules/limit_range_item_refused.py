"""A LimitRange has an unknown or repeated type, or a field that its type cannot have."""

from collections.abc import Iterator

from policygen.core.label_grammar import key_fault
from policygen.core.quoting import quoted
from policygen.core.standard_resources import known_to_quota
from policygen.kubernetes.core import LimitRangeItem
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_TYPES = ("Container", "Pod", "PersistentVolumeClaim")


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/core/validation/validation.go, ValidateLimitRange."""
    for entry in facts.cluster.limit_ranges:
        seen: dict[str, int] = {}
        for i, item in enumerate(entry.fields.limits):
            at = entry.at.to("spec", "limits", i)
            if item.type not in _TYPES and "/" not in item.type:
                yield Hit(
                    RULE,
                    f"{entry} has type {quoted(item.type)}, which is refused; write "
                    f"{', '.join(_TYPES)}, or a name with a domain, such as example.com/disk",
                    at / "type",
                )
            first = seen.setdefault(item.type, i)
            if first != i:
                yield Hit(
                    RULE,
                    f"{entry} has two entries of type {item.type}, which is refused; merge the entries",
                    at / "type",
                    (entry.at.to("spec", "limits", first, "type"),),
                )
            defaults = {"default": item.default, "defaultRequest": item.default_request}
            for field, amounts in defaults.items():
                if item.type == "Pod" and amounts:
                    yield Hit(
                        RULE,
                        f"{entry} has {field} for type Pod, which is refused, because only containers "
                        "have defaults; write type: Container",
                        at / field,
                    )
            for field, name in _unknown_resources(item):
                yield Hit(
                    RULE,
                    f"{entry} limits {quoted(name)}, which is not a valid resource name; write a name "
                    "with a domain, or storage",
                    (at / field / name).on_key(),
                )
            if item.type == "PersistentVolumeClaim" and "storage" not in {**item.min, **item.max}:
                yield Hit(
                    RULE,
                    f"{entry} has type {item.type} without min or max of storage, which is refused; "
                    "write min or max of storage",
                    at,
                )


def _unknown_resources(item: LimitRangeItem) -> Iterator[tuple[str, str]]:
    """The fields and names of resources that types other than Container and Pod cannot have."""
    if item.type in {"Container", "Pod"}:
        return  # `container-resource-refused` reports them
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
    remedy="Write each type once, with fields that the type can have.",
    judges=("LimitRange",),
    check=check,
)
