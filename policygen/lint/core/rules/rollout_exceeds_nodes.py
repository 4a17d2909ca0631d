"""A Deployment fits on the nodes, but its update needs one more pod than they have room for."""

from collections.abc import Container

from policygen.core.finding import At, at_path
from policygen.core.quoting import counted
from policygen.lint.core.excess_words import used
from policygen.lint.core.node_rooms import node_rooms
from policygen.lint.core.node_sums import Excess, excess_with, node_sums
from policygen.lint.core.pod_demands import READS, PodDemand, pod_demands
from policygen.lint.core.rollouts import an_update_waits, rollout
from policygen.lint.core.rules import rollout_exceeds_quota
from policygen.lint.core.rules.rollout_exceeds_quota import updates_reported
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """If no pod may be unavailable, a new one must run before an old one is deleted.

    By default, no pod of a Deployment with less than four replicas may be unavailable. Constraints with
    matchLabelKeys can count only new pods, so they are skipped. Nodes count as empty but for other
    workloads whose pods do not end. Source: pkg/controller/deployment/rolling.go of Kubernetes 1.36.3.
    """
    reported = updates_reported(facts)
    if "workloads-exceed-nodes" in facts.run:
        excesses = facts.derive(node_sums).excesses
        reported.update(each.workload.at for it in excesses for each in it.members)
    for it, room in facts.derive(node_rooms):
        update = rollout(facts.cluster, it.workload)
        if update is None or not update.strict or it.workload.at in reported:
            continue
        if room.path and at_path(
            it.workload.spec, ("template", "spec", *room.path, "matchLabelKeys")
        ):
            continue
        if room.pods == update.replicas == it.pods:
            reported.add(it.workload.at)
            yield Hit(
                RULE,
                f"{it.workload} has {counted(update.replicas, 'pod')}, and the nodes have no room for one more; an "
                "update first creates a new pod, which stays Pending, so the update never ends; "
                "write maxUnavailable: 1 and maxSurge: 0",
                it.workload.at.to("spec", "strategy"),
            )
    yield from _beside_others(facts, reported)


def _beside_others(facts: Facts, reported: Container[At]) -> Hits:
    """One hit for all Deployments whose new pod has no room beside the same workloads."""
    found: dict[tuple[str, tuple[PodDemand, ...]], list[tuple[PodDemand, Excess]]] = {}
    for it in facts.derive(pod_demands):
        update = rollout(facts.cluster, it.workload)
        if update is None or not update.strict or it.workload.at in reported:
            continue
        if (excess := excess_with(facts, it, 1)) is not None:
            key = excess.resource, excess.members[:-1]
            found.setdefault(key, []).append((it, excess))
    for stuck in found.values():
        first, excess = stuck[0]
        yield Hit(
            RULE,
            f"{used(excess)}; {an_update_waits([it.workload for it, _ in stuck], 'stays Pending')}",
            first.workload.at.to("spec", "strategy"),
            tuple(
                dict.fromkeys(
                    it.workload.at for it in excess.members if it.workload is not first.workload
                )
            ),
        )


RULE = ObjectRule(
    "rollout-exceeds-nodes",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write maxUnavailable: 1 and maxSurge: 0.",
    judges=("Deployment",),
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=tuple(dict.fromkeys((*READS, *rollout_exceeds_quota.RULE.reads))),
)
