"""Two PriorityClasses are the default for pods without a class."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The second is refused; if both were created in a race, the lower value is used.

    Source: plugin/pkg/admission/priority/admission.go, validatePriorityClass.
    """
    effect = (
        "the API server refuses the second"
        if facts.cluster.seen is None
        else "pods without a class get the lower of the two values"
    )
    defaults = [entry for entry in facts.cluster.priority_classes if entry.fields.global_default]
    for entry in defaults[1:]:
        if entry.name != defaults[0].name:
            yield Hit(
                RULE,
                f"{entry} and {defaults[0]} both have globalDefault: true, so {effect}; set globalDefault: true in only one of them",
                entry.at / "globalDefault",
                (defaults[0].at / "globalDefault",),
            )


RULE = ObjectRule(
    "two-default-priorities",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Set globalDefault: true in only one PriorityClass.",
    judges=("PriorityClass",),
    check=check,
    may_exist=True,
)
