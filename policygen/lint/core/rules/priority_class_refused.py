"""A PriorityClass has a value or name reserved for Kubernetes, or an empty policy."""

from policygen.kubernetes.priorities import BUILT_IN, HIGHEST
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written

_PREFIX = "system-"


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/scheduling/validation/validation.go, ValidatePriorityClass."""
    for entry in facts.cluster.priority_classes:
        if entry.fields.preemption_policy == "":
            yield Hit(
                RULE,
                f"{entry} has an empty preemptionPolicy, which is refused; write Never or "
                "PreemptLowerPriority",
                entry.at / "preemptionPolicy",
            )
        if entry.name.startswith(_PREFIX):
            if BUILT_IN.get(entry.name) != entry.fields.value:
                yield Hit(
                    RULE,
                    f'{entry} has a name that begins with "{_PREFIX}", which is reserved for Kubernetes; '
                    "write another name",
                    entry.at.to("metadata", "name"),
                    # Pods may still use the name without the prefix.
                    meant=written(entry.at.to("metadata", "name"), entry.name[len(_PREFIX) :]),
                )
        elif entry.fields.value > HIGHEST:
            yield Hit(
                RULE,
                f"{entry} has value {entry.fields.value}, which is reserved for Kubernetes; "
                f"write at most {HIGHEST}",
                entry.at / "value",
            )


RULE = ObjectRule(
    "priority-class-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a value of at most 1000000000 and a name that does not begin with system-.",
    judges=("PriorityClass",),
    check=check,
)
