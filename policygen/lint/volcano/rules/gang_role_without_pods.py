"""A gang waits for pods of a role that no pod has."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Need, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """The role of a pod is the value of its annotation. Where roles are not tested, see there.

    Source: pkg/scheduler/api/job_info.go, CheckTaskValid.
    """
    members = facts.cluster.derive(queues.groups)
    for group in facts.cluster.pod_groups:
        it = group.it
        of = members.get((group.namespace, group.name), ())
        if not of or it.min_member < sum(it.min_task_member.values()):
            continue
        counts: dict[str, int | None] = {}
        for _, template in of:
            role = template.annotations.get(queues.TASK_SPEC, "")
            so_far = counts.get(role, 0)
            more = template.replicas
            counts[role] = None if so_far is None or more is None else so_far + more
        for role, least in it.min_task_member.items():
            there = counts.get(role, 0)
            if there is not None and there < least:
                hint = suggest(role, [name for name in counts if name])
                yield Hit(
                    RULE,
                    f'{group} waits for {least} pods of role "{role}", and {there} have the '
                    f"annotation {queues.TASK_SPEC}: {role}; {hint}",
                    group.at.to("spec", "minTaskMember", role),
                    tuple(template.at for _, template in of[:5]),
                )


RULE = ObjectRule(
    "gang-role-without-pods",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("PodGroup",),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
)
