"""The capability of a Queue does not list a GPU resource that Queues, their pods, or nodes have."""

from policygen.core.quoting import listed
from policygen.kubernetes import accelerators
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.resource_names import meant, provided
from policygen.lint.core.unlimited_gpus import READS, unlimited_gpus
from policygen.lint.kueue.coverage import pod_requests, refused
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """The nearest ancestor that lists a resource limits it; without one it has no limit.

    Skips queues with an affinity, which restricts them to nodes of their own.
    Source: pkg/scheduler/plugins/capacity/capacity.go; volcano-sh/volcano#3558.
    """
    cluster = facts.cluster
    known, used = _known(facts), cluster.derive(queues.accelerators_used)
    refuses = "capability-incomplete" in facts.run and queues.refuses_unlisted(
        facts.target["volcano"]
    )
    skips_misspelt, there = "resource-name-misspelt" in facts.run, cluster.derive(provided)
    skips_missing = "pod-fits-no-node" in facts.run and cluster.nodes.any
    for queue in cluster.queues:
        if not queue.fields.capability or queue.fields.affinity or queue.name == queues.ROOT:
            continue
        path = (queue, *queues.ancestors(cluster, queue))
        own = used.get(queue.name, {})
        unlisted = queues.unlisted(queue.fields) if refuses else {}  # by capability-incomplete
        names = [
            name
            for name in sorted({*known, *own} - unlisted.keys())
            if not any(name in it.fields.capability for it in path)
            and not (skips_misspelt and meant(name, there))
            and (name in known or name in there or not skips_missing)
        ]
        if names:
            yield Hit(
                RULE,
                f"{queue} has no limit for {listed(names, 'and')}, because its capability does not list "
                f"{'it' if len(names) == 1 else 'them'}; list every GPU resource in capability, with 0 to "
                "forbid its use",
                queue.at.to("spec", "capability"),
                tuple(own[name] for name in names if name in own),
            )


def _known(facts: Facts) -> frozenset[str]:
    """The accelerators that queues list, and those of nodes that no quota and no queue lists.

    Without those for which request-not-covered reports a ClusterQueue.
    """
    found = {
        name
        for queue in facts.cluster.queues
        for amounts in queues.amounts(queue.fields).values()
        for name in amounts
        if accelerators.is_one(name)
    }
    unlimited = set(facts.derive(unlimited_gpus))
    for request in pod_requests(facts) if "request-not-covered" in facts.run else ():
        unlimited.difference_update(refused(facts, request))
    return frozenset(found | unlimited)


RULE = ObjectRule(
    "capability-without-gpu",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="List every GPU resource in capability, with 0 to forbid its use.",
    judges=("Queue",),
    check=check,
    reads=("PodGroup", *KINDS, *(kind for kind in READS if kind != "Queue")),
    aliases=("queue-limit-misses-gpu",),
)
