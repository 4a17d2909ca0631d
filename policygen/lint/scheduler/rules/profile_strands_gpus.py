"""A kube-scheduler profile spreads small pods, so that GPUs stay free that a larger pod waits for."""

from fractions import Fraction

from policygen.core.amounts import with_gpus
from policygen.core.quoting import counted, listed, some
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.simulated import READS
from policygen.lint.other_rules import is_inside, places
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.scheduler.rules import (
    packing_counts_another_resource,
    packing_profile_unused,
    profile_does_not_pack,
    profile_packs_weakly,
    scheduler_configuration_refused,
    scheduler_weight_zero,
)
from policygen.lint.scheduler.scoring import profiles
from policygen.lint.scheduler.stranded import StrandedPods, stranded

_OTHERS = (
    packing_counts_another_resource.RULE,
    profile_does_not_pack.RULE,
    profile_packs_weakly.RULE,
    scheduler_configuration_refused.RULE,
    scheduler_weight_zero.RULE,
)
"""The rules that report profiles which are refused, or meant to pack and do not."""


def check(facts: Facts) -> Hits:
    """Found by a simulation of kube-scheduler in which the smallest pods of the input start first.

    With a packing profile, fewer pods wait in the same order: see lint/scheduler/stranded.py.
    Source: pkg/scheduler/framework/plugins/noderesources/least_allocated.go of Kubernetes 1.36.3.
    """
    found = facts.derive(stranded)
    reported = frozenset(places(facts, _OTHERS)) if found else frozenset()
    unused = {it.document for it in places(facts, [packing_profile_unused.RULE])} if found else ()
    for it in profiles(facts.cluster):
        pods = found.get(it.name)
        if it.at.document in unused:
            continue  # another profile of the file packs
        if [each.scheduler_name for each in it.owner.fields.profiles].count(it.name) > 1:
            continue  # scheduler-configuration-refused reports the second one
        if pods is not None and not any(is_inside(at, it.at) for at in reported):
            at = it.scoring.at or it.at
            yield Hit(
                RULE, _message(it.name, pods), at, tuple(owner.at for owner in pods.owners[:1])
            )


def _message(name: str, pods: StrandedPods) -> str:
    now, packed = pods.stranding.now, pods.stranding.packed
    owners = some([str(it) for it in pods.owners], "other object")
    free = listed(
        [with_gpus(it, Fraction(amount)) for it, amount in now.free.items() if amount], "and"
    )
    fewer = f"only {counted(packed.count, 'pod')} wait{'s' if packed.count == 1 else ''}"
    return (
        f"profile {name} spreads pods: if the smallest pods of the input start first, "
        f"{counted(now.count, 'pod')} of {owners} find{'s' if now.count == 1 else ''} no node, although {free} are free; "
        f"with a packing profile, {fewer if packed.count else 'all pods run'}; write a scoringStrategy of type MostAllocated "
        f"with {listed([*now.free], 'and')}"
    )


RULE = ObjectRule(
    "profile-strands-gpus",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Use a profile that packs GPUs, or run small and large pods on different nodes.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
    needs=frozenset({Need.KNOWN_NODES, Need.WORKLOADS}),
    reads=tuple(dict.fromkeys((*READS, "ClusterQueue", "Node", *KINDS))),
)
