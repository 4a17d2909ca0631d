"""A gang needs GPUs that are guaranteed to other Queues, so the gang never starts."""

from policygen.core.amounts import amount_of, readable
from policygen.kubernetes.workloads import KINDS
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.reserved import reserved
from policygen.lint.volcano.rules import guarantee_above_deserved


def check(facts: Facts) -> Hits:
    """The scheduler subtracts the guarantees of the other queues at each level of the tree.

    gang-exceeds-queue reports gangs above a capability, guarantees-exceed-cluster sums of guarantees, and
    guarantee-above-deserved a guarantee that must be lowered.
    Source: pkg/scheduler/plugins/capacity/capacity.go, realCapability.
    """
    reported = set(places(facts, (guarantee_above_deserved.RULE,)))
    for it in facts.cluster.derive(reserved):
        guarantee = ("spec", "guarantee", "resource", it.resource)
        if any(each.at.to(*guarantee) in reported for each in it.siblings):
            continue
        needed = it.gang.amounts[it.resource]
        yield Hit(
            RULE,
            f"{it.gang.owner} needs {amount_of(it.resource, needed, it.most)} at once, but {it.queue} can use at most "
            f"{readable(it.resource, it.most, needed)}, because the rest is guaranteed to other queues; lower "
            "their guarantees, or use a smaller gang",
            it.gang.place(it.resource),
            tuple(each.at.to("spec", "guarantee") for each in it.siblings),
        )


RULE = ObjectRule(
    "gang-needs-reserved-gpus",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Lower the guarantees of the other queues, or use a smaller gang.",
    judges=("PodGroup", "Job"),
    check=check,
    reads=("Queue", "Node", *KINDS, "volcano-scheduler.conf"),
)
