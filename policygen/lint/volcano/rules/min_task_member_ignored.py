"""minMember of a PodGroup is below the sum of minTaskMember, so Volcano does not check roles."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Volcano then skips its check of roles.

    Source: pkg/scheduler/api/job_info.go, CheckTaskValid, CheckTaskReady.
    """
    for group in facts.cluster.pod_groups:
        total = sum(group.fields.min_task_member.values())
        if 0 <= group.fields.min_member < total:
            yield Hit(
                RULE,
                f"{group} has minMember {group.fields.min_member}, but the numbers in "
                f"minTaskMember add up to {total}, so the gang starts with any {group.fields.min_member} pods, "
                f"whatever their roles; write minMember: {total}",
                group.at.to("spec", "minMember"),
                (group.at.to("spec", "minTaskMember"),),
            )


RULE = ObjectRule(
    "min-task-member-ignored",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Set minMember to the sum of minTaskMember.",
    judges=("PodGroup",),
    check=check,
    aliases=("gang-roles-not-tested",),
)
