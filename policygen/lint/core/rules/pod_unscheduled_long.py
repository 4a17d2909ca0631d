"""A pod that asks for GPUs finds no node, though its queue has let it go."""

from collections.abc import Iterator
from datetime import timedelta

from policygen.core.finding import Hit
from policygen.core.names import POD_GROUP
from policygen.core.rule import Severity
from policygen.lint.core.conditions import long
from policygen.lint.core.running_pods import families, held, named, waiting
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Quota is counted over nodes, so that there can be quota and no node: admitted, and Pending.

    What is gated, or waits in a PodGroup, waits for its queue: other rules'. Source: issues 2665
    and 5289 of Kueue.
    """
    stuck = [
        each
        for each in facts.cluster.derive(waiting)
        if each.pod.unscheduled == "Unschedulable"
        and not each.pod.gates
        and POD_GROUP not in each.pod.annotations
        and each.pod.created is not None
        and facts.now - each.pod.created > facts.bound(RULE)
    ]
    for family in families(stuck):
        created = [each.pod.created for each in family if each.pod.created]
        verb = "finds" if len(family) == 1 else "find"
        why = family[0].pod.unscheduled_why
        yield Hit(
            RULE,
            f"{named(family)} {verb} no node for {held(family)} since {long(facts.now - min(created))}"
            f"{why and ': '}{why}; {_remedy(why)}, or delete it so that its quota serves others",
            family[0].pod.at,
        )


def _remedy(why: str) -> str:
    if not why or "Insufficient" in why:
        return "free whole nodes (pack), ask for less"
    return "change what keeps it from the nodes"


RULE = ObjectRule(
    "pod-unscheduled-long",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Pod",),
    check=check,
    needs=frozenset({Need.SEEN}),
    bound=timedelta(hours=1),
)
