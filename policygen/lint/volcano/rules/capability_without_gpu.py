"""The capability of a Queue does not list a GPU resource that Queues, their pods, or nodes have."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from policygen.core.quoting import listed
from policygen.core.tolerations import tolerates
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import TaintView, TolerationView
from policygen.kubernetes.node_filters import HARD, Demand
from policygen.kubernetes.node_index import Bits
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.namespace_quotas import bounds
from policygen.lint.core.pod_demands import READS as READS_OF_PODS
from policygen.lint.core.resource_names import meant, provided
from policygen.lint.core.template_demand import own_demand
from policygen.lint.core.unlimited_gpus import READS, gpus_without_queue
from policygen.lint.kueue.coverage import pod_requests, refused
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.mistaken_gpus import mistaken_gpus

_NO_JOB = Demand(())
"""A pod of a queue without jobs in the input, which can select every node and tolerates nothing."""


def check(facts: Facts) -> Hits:
    """The nearest ancestor that lists a resource limits it; without one it has no limit.

    Skips queues with an affinity, which restricts them to nodes of their own. Of the resources that
    only nodes list, skips those that a queue's jobs do not reach: see `_is_out_of_reach`.
    Source: pkg/scheduler/plugins/capacity/capacity.go; volcano-sh/volcano#3558.
    """
    cluster = facts.cluster
    listed_by_queues, used = _listed(cluster), cluster.derive(queues.accelerators_used)
    offered = _offered(facts)
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
        limits = {name for it in path for name in it.fields.capability}
        reached = {it for it in offered if not _is_out_of_reach(facts, queue, limits, it)}
        known = listed_by_queues | reached
        if refuses and any(map(accelerators.is_one, queues.unlisted(queue.fields))):
            continue  # capability-incomplete reports it
        names = [
            name
            for name in sorted({*known, *own})
            if name not in limits
            and not (skips_misspelt and meant(name, there))
            and (name in known or name in there or not skips_missing)
        ]
        if names:
            wrong = cluster.derive(mistaken_gpus).get(queue.name)
            advice = "list every GPU resource in capability, with 0 to forbid its use"
            if wrong:
                advice = f"write {wrong.meant} instead of {wrong.name}"
            yield Hit(
                RULE,
                f"{queue} has no limit for {listed(names, 'and')}, because its capability does not list "
                f"{'it' if len(names) == 1 else 'them'}; {advice}",
                wrong.places[0] if wrong else queue.at.to("spec", "capability"),
                tuple(own[name] for name in names if name in own),
                meant=wrong.edits if wrong else (),
            )


def _listed(cluster: Cluster) -> frozenset[str]:
    """The accelerators that queues list."""
    return frozenset(
        name
        for queue in cluster.queues
        for amounts in queues.amounts(queue.fields).values()
        for name in amounts
        if accelerators.is_one(name)
    )


def _offered(facts: Facts) -> set[str]:
    """The accelerators of nodes that no queue lists.

    Without those for which request-not-covered reports a ClusterQueue.
    """
    offered = set(facts.derive(gpus_without_queue))
    for request in pod_requests(facts) if "request-not-covered" in facts.run else ():
        offered.difference_update(refused(facts, request))
    return offered


def _is_out_of_reach(
    facts: Facts, queue: Entry[QueueView], limits: Collection[str], name: str
) -> bool:
    """Whether a resource that only nodes list is not for the jobs of a queue.

    All namespaces that use the queue have a ResourceQuota for it, or the queue has a limit for
    other accelerators and each of its jobs selects other nodes than those with this one, or does not tolerate their taints.
    """
    namespaces, by_namespace = (facts.cluster.derive(it) for it in (queues.users, bounds))
    using = namespaces.get(queue.name, ())
    if using and all(f"requests.{name}" in by_namespace.get(it, {}) for it in using):
        return True
    if not any(map(accelerators.is_one, limits)):
        return False
    demands = facts.cluster.derive(_demands).get(queue.name, {_NO_JOB})
    return not any(_reaches(facts, it, name) for it in demands)


def _reaches(facts: Facts, pod: Demand, name: str) -> bool:
    """Whether the node selector and the tolerations of a pod allow a node with a resource."""
    selected = facts.derive(node_index).selected(pod)
    return any(
        nodes & selected and not _are_dedicated(taints, pod.tolerations)
        for taints, nodes in facts.derive(_by_taints)[name].items()
    )


def _by_taints(facts: Facts) -> Mapping[str, Mapping[tuple[TaintView, ...], Bits]]:
    """The nodes with each resource that no queue lists, by their taints; use it with `facts.derive`."""
    found: dict[str, dict[tuple[TaintView, ...], Bits]] = {
        it: {} for it in facts.derive(gpus_without_queue)
    }
    index = facts.derive(node_index)
    for bit, node in index.entries(index.all if found else 0):
        for name in found.keys() & node.allocatable.keys():
            if node.allocatable[name] > 0:
                found[name][node.taints] = found[name].get(node.taints, 0) | bit
    return found


def _are_dedicated(taints: Iterable[TaintView], tolerated: Sequence[TolerationView]) -> bool:
    """Whether one of the taints of nodes keeps pods away. A taint of a GPU's name does not: the server can add the toleration.

    Source: plugin/pkg/admission/extendedresourcetoleration of Kubernetes 1.36.3.
    """
    return any(
        taint.effect in HARD
        and not accelerators.is_one(taint.key)
        and not any(tolerates(it, taint) for it in tolerated)
        for taint in taints
    )


def _demands(cluster: Cluster) -> Mapping[str, set[Demand]]:
    """What the pods of each queue require of a node; for `derive`."""
    found: dict[str, set[Demand]] = {}
    for workload in cluster.workloads:
        for template in workload.templates:
            if queue := queues.queue_of_pods(cluster, workload, template):
                found.setdefault(queue, set()).add(own_demand(cluster, workload, template))
    return found


RULE = ObjectRule(
    "capability-without-gpu",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="List every GPU resource in capability, with 0 to forbid its use.",
    judges=("Queue",),
    check=check,
    reads=tuple(
        dict.fromkeys(it for it in ("PodGroup", *KINDS, *READS, *READS_OF_PODS) if it != "Queue")
    ),
    aliases=("queue-limit-misses-gpu",),
)
