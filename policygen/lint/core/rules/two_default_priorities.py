"""Two PriorityClasses are the default of all pods."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The second is refused; where both got in by a race, the smaller value counts.

    Source: plugin/pkg/admission/priority/admission.go, validatePriorityClass.
    """
    then = "it is refused" if facts.cluster.seen is None else "the smaller value counts"
    defaults = [entry for entry in facts.cluster.priority_classes if entry.it.global_default]
    for entry in defaults[1:]:
        if entry.name != defaults[0].name:
            yield Hit(
                RULE,
                f"{entry} is globalDefault, and so is {defaults[0]}: {then}; keep one",
                entry.at / "globalDefault",
                (defaults[0].at / "globalDefault",),
            )


RULE = ObjectRule(
    "two-default-priorities",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("PriorityClass",),
    check=check,
    stands=True,
)
