"""Workloads whose pods do not end need more GPUs than the nominalQuota of their queue, so they borrow the rest."""

from collections.abc import Sequence
from fractions import Fraction

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import At, Exceeded
from policygen.core.quoting import some
from policygen.kubernetes import priorities
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.queue_rooms import READS as READS_OF_QUEUES
from policygen.lint.core.queue_rooms import RESTARTED
from policygen.lint.core.queue_sums import (
    QueueMember,
    kueue_priority,
    members_of_queues,
    queue_sums,
)
from policygen.lint.kueue.cohorts import Cell, CohortNode, forest
from policygen.lint.kueue.coverage import READS
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.plan.model_names import MODEL

_ZERO = Fraction(0)


def check(facts: Facts) -> Hits:
    """Other queues of the cohort can reclaim borrowed GPUs, so Kueue evicts pods of these workloads.

    Queues can also borrow the quotas of Cohort objects, but no queue reclaims these.
    Source: pkg/scheduler/preemption/preemption.go, satisfiesPreemptionPolicy, of Kueue 0.19.2.
    """
    trees, members = facts.cluster.derive(forest), facts.derive(members_of_queues)
    reported = _reported(facts)
    for queue in facts.cluster.cluster_queues:
        node = trees.queues[queue.name]
        inside = [it for it in members.get(str(queue), ()) if it.workload.at not in reported]
        if node.cyclic or node.parent is None:
            continue
        for name in sorted({name for it in inside for name in it.amounts if is_one(name)}):
            hit = next(
                _hits(facts, node, name, [it for it in inside if it.amounts.get(name)]), None
            )
            if hit is not None:
                yield hit


def _reported(facts: Facts) -> set[At]:
    """The workloads of models, which a spec reports, and those of which a cohort holds too few pods."""
    found = facts.derive(queue_sums) if "workloads-exceed-queue" in facts.run else ()
    models = (it.at for it in facts.cluster.workloads if facts.spec and MODEL in it.labels)
    return {*models, *(each.workload.at for it in found for each in it.members)}


def _hits(facts: Facts, node: CohortNode, name: str, members: Sequence[QueueMember]) -> Hits:
    """Workloads that can use only one flavor count together; of the others it is not certain which flavor each uses."""
    queue, others = node.queue, [it for it in node.root().tree() if it is not node]
    together: dict[object, list[QueueMember]] = {}
    for it in members:
        flavors = it.flavors[name]
        together.setdefault(flavors if len(flavors) == 1 else it.workload.at, []).append(it)
    for inside in together.values():
        flavors = inside[0].flavors[name]
        cells = [(it, name) for it in sorted(flavors)]
        needed = sum((it.amounts[name] for it in inside), _ZERO)
        own = _nominal(node, cells)
        shared = sum((_nominal(it, cells) for it in others if it.queue is None), _ZERO)
        most = sum((node.ceiling(it) for it in cells), _ZERO)
        if queue is None or not own + shared < needed <= most:
            continue  # workloads-exceed-queue reports more than the most
        claimants = [it.queue for it in others if it.queue and _reclaims(facts, it, cells, inside)]
        if claimants:
            who = some([str(it.workload) for it in inside], "other workload")
            needs = "needs" if len(inside) == 1 else "together need"
            last = inside[-1].workload
            limit = f"the nominalQuota of {queue} is {amount_of(name, own, needed)}"
            yield Hit(
                RULE,
                f"{who} {needs} {amount_of(name, needed, own)}, but the nominalQuota of {queue} is "
                f"{readable(name, own, needed)}, so {some([str(it) for it in claimants], 'other queue')} can reclaim the rest "
                f"at any time; run fewer pods, or raise nominalQuota to {readable(name, needed - shared)} and lower that of other "
                "queues as much",
                last.at.to("spec", *(("replicas",) if last.kind in RESTARTED else ())),
                (queue.at.to("spec", "resourceGroups"), *(it.workload.at for it in inside[:-1])),
                exceeds=() if inside[1:] else (Exceeded(last.at, name, own, limit),),
            )


def _nominal(node: CohortNode, cells: Sequence[Cell]) -> Fraction:
    return sum((it.nominal_quota for cell in cells if (it := node.quotas.get(cell))), _ZERO)


def _reclaims(
    facts: Facts, node: CohortNode, cells: Sequence[Cell], members: Sequence[QueueMember]
) -> bool:
    """Whether a queue lends such quota and can evict the members to have it back."""
    preemption = node.queue.fields.preemption if node.queue else None
    if preemption is None or not any(node.local(it) < _nominal(node, [it]) for it in cells):
        return False
    if preemption.reclaim_within_cohort == "LowerPriority":
        known = [it for each in members if (it := kueue_priority(facts, each.workload)) is not None]
        return bool(known) and min(known) < max(priorities.values(facts.cluster), default=0)
    return preemption.reclaim_within_cohort == "Any"


RULE = ObjectRule(
    "serving-above-nominal-quota",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Raise the nominalQuota of the queue, or run fewer pods.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.QUEUES}),
    reads=tuple(
        dict.fromkeys(
            (
                *READS,
                *READS_OF_QUEUES,
                "Node",
                "HorizontalPodAutoscaler",
                "ScaledObject",
                "PriorityClass",
                "WorkloadPriorityClass",
            )
        )
    ),
)
