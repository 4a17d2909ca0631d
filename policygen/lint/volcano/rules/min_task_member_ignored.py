"""The minimum of a gang is below the sum of the minimums of its roles, so Volcano ignores these."""

from policygen.core.quoting import listed
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs


def check(facts: Facts) -> Hits:
    """Volcano then skips its check of roles. A Job becomes such a PodGroup.

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
    for spec in jobs.specs(facts.cluster):
        found = jobs.ignored_minimums(spec)
        if found is None:
            continue
        advice = f"write minAvailable: {found.total}"
        unset = ""
        if found.unset:
            names = listed([*found.unset], "and")
            unset = f" (without a minAvailable, all replicas of {names} count)"
        if len(found.unset) == 1 and found.rest > 0:
            advice += f", or minAvailable: {found.rest} for task {found.unset[0]}"
        yield Hit(
            RULE,
            f"{spec.owner} has minAvailable {found.needed}, but the minimums of its tasks add up to "
            f"{found.total}{unset}, so the gang starts with any {found.needed} pods, whatever their tasks; {advice}",
            spec.at / "minAvailable",
        )


RULE = ObjectRule(
    "min-task-member-ignored",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Set minMember to the sum of minTaskMember, or minAvailable of a Job to the sum of its tasks.",
    judges=("Job", "PodGroup"),
    check=check,
    aliases=("gang-roles-not-tested",),
)
