"""A gang waits for more pods than there will be."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, Need, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """The pods of all workloads that name the group, if their number is known.

    Source: pkg/scheduler/plugins/gang/gang.go, NotEnoughPodsReason.
    """
    members = facts.cluster.derive(queues.groups)
    # What could not be read may name the group as well.
    unread = {it.namespace for it in facts.cluster.workloads if not it.templates}
    for group in facts.cluster.pod_groups:
        of = members.get((group.namespace, group.name), ())
        counts = [template.replicas for _, template in of]
        known = [count for count in counts if count is not None]
        if not of or len(known) < len(counts):
            continue
        if sum(known) < group.it.min_member and group.namespace not in unread:
            yield Hit(
                RULE,
                f"{group} waits for {group.it.min_member} pods, and {sum(known)} name it: it "
                "never starts; write their number as minMember, or run more",
                group.at.to("spec", "minMember"),
                tuple(template.at for _, template in of[:5]),
            )


RULE = ObjectRule(
    "gang-larger-than-its-pods",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("PodGroup",),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
)
