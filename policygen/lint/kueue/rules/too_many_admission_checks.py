"""A ClusterQueue needs more admission checks than the status of a Workload can hold."""

from policygen.lint.kueue.admission_checks import checked, checks
from policygen.lint.kueue.quotas import flavors
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A queue may name 64 checks; the status.admissionChecks of a Workload holds 8.

    Source: apis/kueue/v1beta2/workload_types.go.
    """
    for queue in facts.cluster.derive(checked):
        used = [check_rule for _, check_rule in checks(queue)]
        if len(used) <= 8:
            continue
        for _, flavor in flavors(queue):
            count = sum(1 for it in used if not it.on_flavors or flavor.name in it.on_flavors)
            if count > 8:
                yield Hit(
                    RULE,
                    f"{queue} has {count} checks for flavor {flavor.name}, but the status of a "
                    "Workload holds only 8, so workloads keep their quota and never start; write at "
                    "most 8 checks",
                    queue.at.to("spec", "admissionChecksStrategy", "admissionChecks"),
                )
                break


RULE = ObjectRule(
    "too-many-admission-checks",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Use at most 8 admission checks.",
    judges=("ClusterQueue",),
    check=check,
)
