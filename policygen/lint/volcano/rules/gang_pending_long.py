"""A PodGroup has been Pending or Inqueue for too long."""

from datetime import timedelta

from policygen.kubernetes.conditions import condition, created, long, phase
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A gang in phase Inqueue counts against its queue although no pod runs.

    Source: pkg/scheduler/plugins/capacity, inqueue, of Volcano 1.14.1; issues 2814, 5006.
    """
    for group in facts.cluster.pod_groups:
        state, since = phase(group.object), created(group.object)
        if state not in {"Pending", "Inqueue"} or since is None:
            continue
        age = facts.now - since
        if age <= facts.bound(RULE):
            continue
        found = condition(group.object, "Unschedulable")
        why = f": {found.message}" if found and found.holds and found.message else ""
        holding = ""
        if state == "Inqueue":
            holding = ", and its minResources are counted against the queue"
        yield Hit(
            RULE,
            f'{group} of queue "{group.fields.queue or "default"}" has been {state} for '
            f"{long(age)}{holding}{why}; provide nodes that fit its pods, or delete the PodGroup",
            group.at,
        )


RULE = ObjectRule(
    "gang-pending-long",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Provide nodes that fit the pods of the gang, or delete the gang.",
    judges=("PodGroup",),
    check=check,
    needs=frozenset({Need.SEEN}),
    bound=timedelta(hours=24),
)
