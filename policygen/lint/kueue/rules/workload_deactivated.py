"""Kueue has deactivated a Workload and never retries it."""

from policygen.kubernetes.conditions import condition, holds
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Only what Kueue deactivated: the plain reason `Deactivated` is for a user's `active: false`.

    Source: WorkloadEvictedByDeactivation and the reasons derived from it, such as
    DeactivatedDueToRequeuingLimitExceeded, in apis/kueue/v1beta2/workload_types.go of Kueue 0.19.2.
    """
    for workload in facts.cluster.kueue_workloads:
        found = condition(workload.object, "Evicted")
        if workload.fields.active or holds(workload.object, "Finished"):
            continue
        if found and found.holds and found.reason.startswith("DeactivatedDueTo"):
            yield Hit(
                RULE,
                f"{workload} is deactivated and never retried ({found.reason}: {found.message}); "
                "fix the cause and set spec.active to true, or delete the owner of the Workload",
                workload.at / "spec" / "active",
            )


RULE = ObjectRule(
    "workload-deactivated",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Fix the cause, then set spec.active to true, or delete the Workload's owner.",
    judges=("Workload",),
    check=check,
    needs=frozenset({Need.SEEN}),
)
