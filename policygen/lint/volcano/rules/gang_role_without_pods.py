"""A gang waits for more pods of a role than its workloads create."""

from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """The role of a pod is the value of its annotation. See also min-task-member-ignored.

    Source: pkg/scheduler/api/job_info.go, CheckTaskValid.
    """
    members = facts.cluster.derive(queues.groups)
    for group in facts.cluster.pod_groups:
        pods = members.get((group.namespace, group.name), ())
        if not pods or group.fields.min_member < sum(group.fields.min_task_member.values()):
            continue
        counts: dict[str, int | None] = {}
        for _, template in pods:
            role = template.annotations.get(queues.TASK_SPEC, "")
            so_far = counts.get(role, 0)
            more = template.replicas
            counts[role] = None if so_far is None or more is None else so_far + more
        for role, least in group.fields.min_task_member.items():
            has = counts.get(role, 0)
            if has is not None and has < least:
                names = [name for name in counts if name]
                advice = (
                    suggest(role, names) if names else "write this annotation into the pod template"
                )
                yield Hit(
                    RULE,
                    f'{group} waits for {least} pods of role "{role}", but only {has} pods have '
                    f"the annotation {queues.TASK_SPEC}: {role}; {advice}",
                    group.at.to("spec", "minTaskMember", role),
                    tuple(template.at for _, template in pods[:5]),
                )


RULE = ObjectRule(
    "gang-role-without-pods",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the annotation volcano.sh/task-spec with the role into the pod template.",
    judges=("PodGroup",),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
)
