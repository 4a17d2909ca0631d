"""A gang waits for more pods than its workloads create."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """Counts the pods of all workloads that name the group, if their number is known.

    Source: pkg/scheduler/plugins/gang/gang.go, NotEnoughPodsReason.
    """
    members = facts.cluster.derive(queues.groups)
    # A workload that could not be read may name the group too.
    unread = {workload.namespace for workload in facts.cluster.workloads if not workload.templates}
    for group in facts.cluster.pod_groups:
        pods = members.get((group.namespace, group.name), ())
        counts = [template.replicas for _, template in pods]
        known = [count for count in counts if count is not None]
        if not pods or len(known) < len(counts):
            continue
        if sum(known) < group.fields.min_member and group.namespace not in unread:
            yield Hit(
                RULE,
                f"{group} has minMember {group.fields.min_member}, but only {sum(known)} pods name "
                "this PodGroup, so the gang never starts; set minMember to the number of pods, or run more pods",
                group.at.to("spec", "minMember"),
                tuple(template.at for _, template in pods[:5]),
            )


RULE = ObjectRule(
    "gang-larger-than-its-pods",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Set minMember to the number of pods.",
    judges=("PodGroup",),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
)
