"""A gang needs more GPUs than its Queue deserves, so reclaim can evict some of its pods."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import At, Exceeded
from policygen.core.quoting import some
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings
from policygen.lint.volcano.gangs import GangNeeds, gangs
from policygen.lint.volcano.reserved import reserved


def check(facts: Facts) -> Hits:
    """Reclaim evicts pods of a queue above deserved, for queues below theirs, and not complete gangs.

    Skips a Job whose policy stops all its pods then. Several gangs of one queue are one hit.
    Source: pkg/scheduler/plugins/capacity/capacity.go,
    reclaimableFn; tests/servers/test_volcano_behaviour.py, test_a_gang_that_borrowed_gives_only.
    """
    configuration = settings(facts)
    if configuration is not None and "reclaim" not in configuration.actions:
        return
    cluster = facts.cluster
    never_start = {it.gang.place(it.resource) for it in cluster.derive(reserved)}
    found: dict[tuple[At, str], tuple[Entry[QueueView], list[GangNeeds]]] = {}
    for gang in cluster.derive(gangs):
        queue = cluster.queues.get(gang.queue)
        if queue is None or gang.pods < 2 or gang.ends_together or not queue.fields.reclaimable:
            continue
        for name, amount in sorted(gang.amounts.items()):
            deserved = queue.fields.deserved.get(name)
            limits = (
                it.fields.capability.get(name, amount)
                for it in (queue, *queues.ancestors(cluster, queue))
            )
            if gang.place(name) in never_start:
                continue
            if deserved is None or not is_one(name) or not deserved < amount <= min(limits):
                continue
            if cluster.derive(_deserving).get(name, set()) - {queue.name}:
                found.setdefault((queue.at, name), (queue, []))[1].append(gang)
    for (_, name), (queue, above) in found.items():
        if len(above) > 1 and queue.at not in cluster.context:
            yield _of_queue(queue, name, above)
            continue
        yield from (_of_gang(queue, name, it) for it in above)


def _of_gang(queue: Entry[QueueView], name: str, gang: GangNeeds) -> Hit:
    amount, deserved = gang.amounts[name], queue.fields.deserved[name]
    return Hit(
        RULE,
        f"{gang.owner} needs {amount_of(name, amount, deserved)} at once, but {queue} deserves only "
        f"{readable(name, deserved, amount)}, so other queues can reclaim some of its pods while the "
        "others keep their GPUs; raise deserved, or add a policy with event PodEvicted and action "
        "RestartJob to the Job",
        gang.place(name),
        (queue.at.to("spec", "deserved", name),),
        exceeds=(_exceeded(queue, name, gang),),
    )


def _of_queue(queue: Entry[QueueView], name: str, gangs_above: Sequence[GangNeeds]) -> Hit:
    """One hit for several gangs: the amount of the queue is probably wrong."""
    deserved = queue.fields.deserved[name]
    needs = [f"{it.owner} needs {readable(name, it.amounts[name], deserved)}" for it in gangs_above]
    return Hit(
        RULE,
        f"{queue} deserves only {amount_of(name, deserved)}, but each of {len(gangs_above)} gangs needs more at once "
        f"({some(needs, 'other gang')}), so other queues can reclaim some pods of a gang while the others keep their "
        "GPUs; raise deserved, or add a policy with event PodEvicted and action RestartJob to the Jobs",
        queue.at.to("spec", "deserved", name),
        tuple(it.place(name) for it in gangs_above),
        exceeds=tuple(_exceeded(queue, name, it)._replace(owner=it.owner) for it in gangs_above),
    )


def _exceeded(queue: Entry[QueueView], name: str, gang: GangNeeds) -> Exceeded:
    deserved = queue.fields.deserved[name]
    limit = f"{queue} deserves only {amount_of(name, deserved, gang.amounts[name])}"
    return Exceeded(gang.subject(name), name, deserved, limit, pods=gang.pods)


def _deserving(cluster: Cluster) -> Mapping[str, set[str]]:
    """The names of the leaves that deserve some of each resource."""
    tree = cluster.derive(queues.tree)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for queue in cluster.queues:
        for name, amount in queue.fields.deserved.items():
            if amount > 0 and not tree.inner(queue.name):
                found[name].add(queue.name)
    return found


RULE = ObjectRule(
    "gang-above-deserved",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Raise deserved of the queue to the size of the gang, or let the Job restart if a pod is evicted.",
    judges=("PodGroup", "Job"),
    check=check,
    reads=("Queue", "Node", "volcano-scheduler.conf", *KINDS),
)
