"""A PodGroup has waited for longer than it should; one in Inqueue holds its queue's room meanwhile."""

from collections.abc import Iterator
from datetime import timedelta

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.conditions import condition, created, long, phase
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Inqueue counts minResources against the queue though no pod runs.

    Source: pkg/scheduler/plugins/capacity, inqueue, of Volcano 1.14.1; issues 2814, 5006.
    """
    for group in facts.cluster.pod_groups:
        stands, since = phase(group.object), created(group.object)
        if stands not in {"Pending", "Inqueue"} or since is None:
            continue
        age = facts.now - since
        if age <= facts.bound(RULE):
            continue
        found = condition(group.object, "Unschedulable")
        why = f": {found.message}" if found and found.holds and found.message else ""
        holding = ""
        if stands == "Inqueue":
            holding = " and holds its minResources of the queue meanwhile"
        yield Hit(
            RULE,
            f'{group} of queue "{group.it.queue or "default"}" is {stands} for {long(age)}{holding}'
            f"{why}; give it nodes that its pods fit, or delete it",
            group.at,
        )


RULE = ObjectRule(
    "gang-pending-long",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("PodGroup",),
    check=check,
    needs=frozenset({Need.SEEN}),
    bound=timedelta(hours=24),
)
