"""A gang's minMember is below the sum of its roles, so the roles are not looked at."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The test of roles is left out altogether.

    Source: pkg/scheduler/api/job_info.go, CheckTaskValid, CheckTaskReady.
    """
    for group in facts.cluster.pod_groups:
        total = sum(group.it.min_task_member.values())
        if 0 <= group.it.min_member < total:
            yield Hit(
                RULE,
                f"{group} has minMember {group.it.min_member}, and its roles sum to {total}: any "
                f"{group.it.min_member} pods start it, of whatever role; write minMember: {total}",
                group.at.to("spec", "minMember"),
                (group.at.to("spec", "minTaskMember"),),
            )


RULE = ObjectRule(
    "gang-roles-not-tested",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("PodGroup",),
    check=check,
)
