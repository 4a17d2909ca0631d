"""A gang needs GPUs that are guaranteed to other Queues, so the gang never starts."""

from policygen.core.amounts import amount_of, readable
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.reserved import reserved


def check(facts: Facts) -> Hits:
    """The scheduler subtracts the guarantees of the other queues at each level of the tree.

    gang-exceeds-queue reports gangs above a capability, and guarantees-exceed-cluster sums of guarantees.
    Source: pkg/scheduler/plugins/capacity/capacity.go, realCapability.
    """
    for it in facts.cluster.derive(reserved):
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
    reads=("Queue", "Node", *KINDS),
)
