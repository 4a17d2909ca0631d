"""A PriorityClass has a value or name that only Kubernetes' own may have, or an empty policy."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule

_HIGHEST = 1_000_000_000
_PREFIX = "system-"
_OWN = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


def check(facts: Facts) -> Iterator[Claim]:
    """Source: pkg/apis/scheduling/validation/validation.go, ValidatePriorityClass."""
    for entry in facts.cluster.priority_classes:
        if entry.it.preemption_policy == "":
            yield Claim(
                f"{entry} has an empty preemptionPolicy, which is refused; write Never or "
                "PreemptLowerPriority",
                entry.at / "preemptionPolicy",
            )
        if entry.name.startswith(_PREFIX):
            if _OWN.get(entry.name) != entry.it.value:
                yield Claim(
                    f'{entry}: names that begin with "{_PREFIX}" are for Kubernetes\' own classes; '
                    "take another name",
                    entry.at.to("metadata", "name"),
                )
        elif entry.it.value > _HIGHEST:
            yield Claim(
                f"{entry} has value {entry.it.value}, and above {_HIGHEST} are Kubernetes' own "
                f"classes; write at most {_HIGHEST}",
                entry.at / "value",
            )


RULE = Rule(
    "priority-class-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=("PriorityClass",),
    check=check,
)
