"""Kueue has given up on a Workload: it is suspended, and never tried again."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.conditions import condition, holds
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Only what a controller deactivated: `Deactivated` alone is somebody's own `active: false`.

    Source: WorkloadEvictedByDeactivation and the reasons made of it, such as
    DeactivatedDueToRequeuingLimitExceeded, in apis/kueue/v1beta2/workload_types.go of Kueue 0.19.2.
    """
    for it in facts.cluster.kueue_workloads:
        found = condition(it.object, "Evicted")
        if it.it.active or holds(it.object, "Finished"):
            continue
        if found and found.holds and found.reason.startswith("DeactivatedDueTo"):
            yield Hit(
                RULE,
                f"{it} is deactivated and never tried again: {found.reason}: {found.message}; mend "
                "its cause and set spec.active to true, or delete its owner",
                it.at / "spec" / "active",
            )


RULE = ObjectRule(
    "workload-deactivated",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Workload",),
    check=check,
    needs=frozenset({Need.SEEN}),
)
