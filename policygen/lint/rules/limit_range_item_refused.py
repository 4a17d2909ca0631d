"""An entry of a LimitRange has a type that there is not, or twice, or a field that its type cannot have."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.spec.echo import quoted

_TYPES = ("Container", "Pod", "PersistentVolumeClaim")


def check(facts: Facts) -> Iterator[Claim]:
    """Source: pkg/apis/core/validation/validation.go, ValidateLimitRange."""
    for entry in facts.cluster.limit_ranges:
        seen: dict[str, int] = {}
        for i, item in enumerate(entry.it.limits):
            at = entry.at.to("spec", "limits", i)
            if item.type not in _TYPES and "/" not in item.type:
                yield Claim(
                    f"{entry} limits {quoted(item.type)}, which is refused; write "
                    f"{', '.join(_TYPES)}, or a name with a domain",
                    at / "type",
                )
            first = seen.setdefault(item.type, i)
            if first != i:
                yield Claim(
                    f"{entry} has two entries of type {item.type}, which is refused; put them "
                    "together",
                    at / "type",
                    (entry.at.to("spec", "limits", first, "type"),),
                )
            defaults = {"default": item.default, "defaultRequest": item.default_request}
            for field, amounts in defaults.items():
                if item.type == "Pod" and amounts:
                    yield Claim(
                        f"{entry} has a {field} for whole pods, which is refused: defaults are for "
                        "containers; write type: Container",
                        at / field,
                    )
            if item.type == "PersistentVolumeClaim" and "storage" not in {**item.min, **item.max}:
                yield Claim(
                    f"{entry} limits claims and says neither min nor max of storage; write one", at
                )


RULE = Rule(
    "limit-range-item-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=("LimitRange",),
    check=check,
)
