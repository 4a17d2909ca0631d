"""A gang needs more GPUs than its Queue deserves, so reclaim can evict some of its pods."""

from collections import defaultdict
from collections.abc import Mapping

from policygen.core.amounts import amount_of, readable
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings
from policygen.lint.volcano.gangs import gangs
from policygen.lint.volcano.reserved import reserved


def check(facts: Facts) -> Hits:
    """Reclaim evicts pods of a queue above deserved, for queues below theirs, and not complete gangs.

    Skips a Job whose policy stops all its pods then. Source: pkg/scheduler/plugins/capacity/capacity.go,
    reclaimableFn; tests/servers/test_volcano_behaviour.py, test_a_gang_that_borrowed_gives_only.
    """
    configuration = settings(facts)
    if configuration is not None and "reclaim" not in configuration.actions:
        return
    cluster = facts.cluster
    never_start = {it.gang.place(it.resource) for it in cluster.derive(reserved)}
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
                yield Hit(
                    RULE,
                    f"{gang.owner} needs {amount_of(name, amount, deserved)} at once, but {queue} deserves only "
                    f"{readable(name, deserved, amount)}, so other queues can reclaim some of its pods while the "
                    "others keep their GPUs; raise deserved, or add a policy with event PodEvicted and action "
                    "RestartJob to the Job",
                    gang.place(name),
                    (queue.at.to("spec", "deserved", name),),
                )


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
