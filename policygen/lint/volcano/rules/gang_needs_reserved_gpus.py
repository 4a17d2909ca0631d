"""A gang needs GPUs that are guaranteed to other Queues, so the gang never starts."""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from policygen.core.amounts import amount_of, readable, total
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.gangs import gangs


def check(facts: Facts) -> Hits:
    """The scheduler subtracts the guarantees of the other queues at each level of the tree.

    gang-exceeds-queue reports gangs above a capability, and guarantees-exceed-cluster sums of guarantees.
    Source: pkg/scheduler/plugins/capacity/capacity.go, realCapability.
    """
    cluster = facts.cluster
    nodes = (it.fields.status for it in cluster.nodes)
    inventory = total(it.allocatable or it.capacity for it in nodes)
    for gang in gangs(cluster):
        own = cluster.queues.get(gang.queue)
        if own is None:
            continue
        path = [own, *queues.ancestors(cluster, own)]
        for name, amount in sorted(gang.amounts.items()):
            limits = [it.fields.capability[name] for it in path if name in it.fields.capability]
            have = inventory.get(name)
            if min([*limits, *([] if have is None else [have])], default=Fraction(0)) < amount:
                continue
            most, holder = have, None
            for queue in reversed(path):
                others = _guaranteed(facts, queue, name)
                if most is not None and others and amount > most - others >= 0:
                    holder, most = queue, most - others
                    break
                most = None if most is None else most - others
                limit = queue.fields.capability.get(name)
                most = limit if most is None else min(most, limit) if limit is not None else most
            if holder is not None and most is not None:
                yield Hit(
                    RULE,
                    f"{gang.owner} needs {amount_of(name, amount, most)} at once, but {holder} can use at most "
                    f"{readable(name, most, amount)}, because the rest is guaranteed to other queues; lower "
                    f"their guarantees, or use a smaller gang",
                    gang.place(name),
                    tuple(it.at.to("spec", "guarantee") for it in _siblings(facts, holder, name)),
                )
                break


def _siblings(facts: Facts, queue: Entry[QueueView], resource: str) -> list[Entry[QueueView]]:
    """The other queues of its parent that are guaranteed some of a resource."""
    children = facts.cluster.derive(queues.tree).children
    return [
        it
        for it in children.get(queue.fields.parent or queues.ROOT, ())
        if it.name != queue.name and it.fields.guarantee.resource.get(resource, 0) > 0
    ]


def _guaranteed(facts: Facts, queue: Entry[QueueView], resource: str) -> Fraction:
    """What the other queues of its parent are guaranteed."""
    parent = queue.fields.parent or queues.ROOT
    found = facts.cluster.derive(_guarantees).get((parent, resource), Fraction(0))
    own = queue.fields.guarantee.resource.get(resource, Fraction(0))
    return found if queue.name == queues.ROOT else found - max(own, Fraction(0))


def _guarantees(cluster: Cluster) -> Mapping[tuple[str, str], Fraction]:
    """What the children of each queue are guaranteed together, by queue and resource."""
    sums: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for parent, children in cluster.derive(queues.tree).children.items():
        for child in children:
            for name, amount in child.fields.guarantee.resource.items():
                sums[parent, name] += max(amount, Fraction(0))
    return sums


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
