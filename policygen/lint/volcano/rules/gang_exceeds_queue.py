"""A gang needs more resources at once than its Queue may use."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import At, Exceeded
from policygen.core.quoting import listed, some
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.model_findings import doubtful_amounts
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.gangs import GangNeeds, gangs
from policygen.lint.volcano.rules import deserved_above_capability


class CapabilityExcess(Struct, frozen=True, eq=False):
    """An amount of a gang that is above the capability of a queue."""

    resource: str
    amount: Fraction
    limit: Fraction
    queue: Entry[QueueView]


def check(facts: Facts) -> Hits:
    """The gang is never enqueued, or its first pods hold GPUs forever.

    For a Job the controller writes minResources. Several gangs above the capability of one queue are one
    hit. deserved-above-capability reports a capability that is raised to deserved for the gang.

    Source: pkg/scheduler/plugins/capacity/capacity.go, checkJobEnqueueableHierarchically;
    volcano-sh/volcano#3220.
    """
    by_queue: dict[str, dict[At, tuple[GangNeeds, list[CapabilityExcess]]]] = {}
    reported = set(places(facts, (deserved_above_capability.RULE,)))
    doubtful = facts.derive(doubtful_amounts)
    for gang in facts.cluster.derive(gangs):
        for it in _excesses(facts.cluster, gang):
            if (it.queue.name, it.resource) in doubtful:
                continue  # node-allocatable-implausible reports the nodes
            deserved = it.queue.fields.deserved.get(it.resource, it.limit)
            if it.amount <= deserved and _deserved_at(it) in reported:
                continue
            of_gang = by_queue.setdefault(it.queue.name, {})
            of_gang.setdefault(gang.root, (gang, []))[1].append(it)
    for found in by_queue.values():
        (gang, [first, *_]), *others = found.values()
        if others and first.queue.at not in facts.cluster.context:
            yield _of_queue(first.queue, [*found.values()])
            continue
        yield from (_of_gang(*it) for it in found.values())


def _deserved_at(it: CapabilityExcess) -> At:
    return it.queue.at.to("spec", "deserved", it.resource)


def _excesses(cluster: Cluster, gang: GangNeeds) -> Iterator[CapabilityExcess]:
    """The amounts of a gang above a capability, each with the lowest queue of which it exceeds it."""
    own = cluster.queues.get(gang.queue)
    path = () if own is None else (own, *queues.ancestors(cluster, own))
    for name, amount in sorted(gang.amounts.items(), key=lambda it: (not is_one(it[0]), it[0])):
        for queue in path:
            limit = queue.fields.capability.get(name)
            unlimited = limit == 0 and name in ("cpu", "memory")
            if limit is not None and amount > limit and not unlimited:
                yield CapabilityExcess(name, amount, limit, queue)
                break


def _of_queue(
    queue: Entry[QueueView], found: Sequence[tuple[GangNeeds, Sequence[CapabilityExcess]]]
) -> Hit:
    """One hit for several gangs: the capability is probably wrong."""
    limits = {it.resource: it.limit for _, excesses in found for it in excesses}
    needs = [
        f"{gang.owner} needs {listed([amount_of(it.resource, it.amount, it.limit) for it in excesses], 'and')}"
        for gang, excesses in found
    ]
    has = listed([amount_of(name, limit) for name, limit in limits.items()], "and")
    return Hit(
        RULE,
        f"{queue} has a capability of {has}, but each of {len(found)} gangs needs more at once and waits forever: "
        f"{some(needs, 'other gang')}; raise the capability, or lower the number of pods in these gangs",
        queue.at.to("spec", "capability", next(iter(limits))),
        tuple(gang.place(it.resource) for gang, excesses in found for it in excesses[:1]),
        exceeds=tuple(
            _exceeded(gang, it)._replace(owner=gang.owner)
            for gang, excesses in found
            for it in excesses
        ),
    )


def _of_gang(gang: GangNeeds, excesses: Sequence[CapabilityExcess]) -> Hit:
    number = "minMember and minResources" if gang.written else str(gang.at.path[-1])
    if gang.is_whole:
        number = f"{number} and the replicas of its tasks"
    needs = [amount_of(it.resource, it.amount, it.limit) for it in excesses]
    limits = [readable(it.resource, it.limit, it.amount) for it in excesses]
    one = any(it.amount > it.limit * gang.pods for it in excesses)
    lower = "the request of a pod, which is above the capability" if one else number
    if all(it.resource in gang.declared for it in excesses):
        lower = "minResources, which is above the requests of the pods"
    return Hit(
        RULE,
        f"{gang.owner} needs {listed(needs, 'and')} at once, but {excesses[0].queue} has a capability of "
        f"{listed(limits, 'and')}, so the gang waits forever; lower {lower}, or raise the capability",
        gang.place(excesses[0].resource),
        tuple(it.queue.at.to("spec", "capability", it.resource) for it in excesses),
        exceeds=tuple(_exceeded(gang, it) for it in excesses),
    )


def _exceeded(gang: GangNeeds, it: CapabilityExcess) -> Exceeded:
    limit = f"{it.queue} has a capability of {amount_of(it.resource, it.limit, it.amount)}"
    return Exceeded(gang.subject(it.resource), it.resource, it.limit, limit, pods=gang.pods)


RULE = ObjectRule(
    "gang-exceeds-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Shrink the gang, or raise the capability of its queue.",
    judges=("PodGroup", "Job"),
    check=check,
    reads=("Queue", "volcano-scheduler.conf", *KINDS),
)
