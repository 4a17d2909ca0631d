"""A pod with GPUs was admitted by its queue, but has fit no node for a long time."""

from datetime import timedelta

from policygen.core.names import POD_GROUP
from policygen.kubernetes.conditions import long
from policygen.lint.core.running_pods import families, held, named, waiting
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Quota is counted over all nodes, so an admitted pod can fit on no node and stay Pending.

    Pods that are gated or in a PodGroup wait for their queue; other rules report them.
    Source: issues 2665 and 5289 of Kueue.
    """
    stuck = [
        holder
        for holder in facts.cluster.derive(waiting)
        if holder.pod.unscheduled == "Unschedulable"
        and not holder.pod.gates
        and POD_GROUP not in holder.pod.annotations
        and holder.pod.created is not None
        and facts.now - holder.pod.created > facts.bound(RULE)
    ]
    for family in families(stuck):
        created = [holder.pod.created for holder in family if holder.pod.created]
        verb = "has" if len(family) == 1 else "have"
        why = family[0].pod.unscheduled_why
        yield Hit(
            RULE,
            f"{named(family)} with {held(family)} {verb} fit no node for "
            f"{long(facts.now - min(created))}{why and ': '}{why}; {_advice(why)}, or delete "
            f"the {'pod' if len(family) == 1 else 'pods'} to release the quota",
            family[0].pod.at,
        )


def _advice(why: str) -> str:
    if not why or "Insufficient" in why:
        return "pack the pods onto fewer nodes, request fewer GPUs in each pod"
    return "change the constraint that excludes the pods from the nodes"


RULE = ObjectRule(
    "pod-unscheduled-long",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Pack pods onto fewer nodes, request fewer GPUs in each pod, or delete the pod.",
    judges=("Pod",),
    check=check,
    needs=frozenset({Need.SEEN}),
    bound=timedelta(hours=1),
)
