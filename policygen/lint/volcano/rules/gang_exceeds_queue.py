"""A gang needs more resources at once than its Queue may use."""

from fractions import Fraction

from msgspec import Struct

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import At, Exceeded
from policygen.core.quoting import listed
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.gangs import GangNeeds, gangs


class CapabilityExcess(Struct, frozen=True, eq=False):
    """An amount of a gang that is above the capability of a queue."""

    resource: str
    amount: Fraction
    limit: Fraction
    queue: Entry[QueueView]


def check(facts: Facts) -> Hits:
    """The gang is never enqueued, or its first pods hold GPUs forever.

    For a Job the controller writes minResources.

    Source: pkg/scheduler/plugins/capacity/capacity.go, checkJobEnqueueableHierarchically;
    volcano-sh/volcano#3220.
    """
    cluster = facts.cluster
    for gang in cluster.derive(gangs):
        own = cluster.queues.get(gang.queue)
        if own is None:
            continue
        path = (own, *queues.ancestors(cluster, own))
        found: dict[tuple[At, str], list[CapabilityExcess]] = {}
        for name, amount in sorted(gang.amounts.items(), key=lambda it: (not is_one(it[0]), it[0])):
            for queue in path:
                limit = queue.fields.capability.get(name)
                unlimited = limit == 0 and name in ("cpu", "memory")
                if limit is not None and amount > limit and not unlimited:
                    key = gang.place(name), queue.name
                    found.setdefault(key, []).append(CapabilityExcess(name, amount, limit, queue))
                    break
        number = "minMember and minResources" if gang.written else str(gang.at.path[-1])
        if gang.is_whole:
            number = f"{number} and the replicas of its tasks"
        for (at, _), excesses in found.items():
            needs = [amount_of(it.resource, it.amount, it.limit) for it in excesses]
            limits = [readable(it.resource, it.limit, it.amount) for it in excesses]
            one = any(it.amount > it.limit * gang.pods for it in excesses)
            lower = "the request of a pod, which is above the capability" if one else number
            yield Hit(
                RULE,
                f"{gang.owner} needs {listed(needs, 'and')} at once, but {excesses[0].queue} has a capability of "
                f"{listed(limits, 'and')}, so the gang waits forever; lower {lower}, or raise the capability",
                at,
                tuple(it.queue.at.to("spec", "capability", it.resource) for it in excesses),
                exceeds=tuple(_exceeded(gang, it) for it in excesses),
            )


def _exceeded(gang: GangNeeds, it: CapabilityExcess) -> Exceeded:
    limit = f"{it.queue} has a capability of {amount_of(it.resource, it.limit, it.amount)}"
    return Exceeded(gang.root, it.resource, it.limit, limit, pods=gang.pods)


RULE = ObjectRule(
    "gang-exceeds-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Shrink the gang, or raise the capability of its queue.",
    judges=("PodGroup", "Job"),
    check=check,
    reads=("Queue", *KINDS),
)
