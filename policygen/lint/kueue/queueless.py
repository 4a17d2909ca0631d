"""Workloads that request accelerators in a namespace with queues, but name no queue.

Source: pkg/controller/jobframework/reconciler.go of Kueue 0.19.2.
"""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache, partial

from msgspec import Struct

from policygen.core.names import LOCAL_QUEUE, NAMESPACE_NAME
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.kueue_jobs import BY_POD, DEFAULT_QUEUE, FRAMEWORKS, inner_labels, labels
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mappings
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.core.pool_pods import pools
from policygen.lint.core.running_pods import maker
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.flavor_fits import refusal
from policygen.lint.rule import Facts

_QUEUED = FRAMEWORKS.keys() | BY_POD
"""Kinds with a queue, or whose pods have one."""
_OWNERS = ("metadata", "ownerReferences")


class Queueless(Struct, frozen=True, eq=False):
    """A workload without a queue."""

    workload: Workload
    resource: str
    """An accelerator that it requests, and for which one of the queues has quota."""
    queues: Sequence[Entry[ClusterQueueView]]
    """The ClusterQueues of its namespace."""


def queueless(facts: Facts) -> tuple[Queueless, ...]:
    """All such workloads; use it with `facts.derive`."""
    return tuple(_queueless(facts))


def _queueless(facts: Facts) -> Iterator[Queueless]:
    cluster, rules = facts.cluster, settings(facts)
    running = facts.derive(_running)
    queues_of = cache(partial(_queues, cluster))
    manages = cache(partial(selects, cluster, rules.managed))
    for workload in cluster.workloads:
        if not any(accelerators.requested(cluster, it) for it in workload.templates):
            continue
        namespace = workload.namespace
        owner = (namespace, workload.kind, workload.name)
        if names_a_queue(workload) or not _may_queue(workload) or owner in running:
            continue
        if cluster.local_queues.knows(DEFAULT_QUEUE, namespace):
            continue
        if manages(namespace) is False:
            continue  # queue-in-unmanaged-namespace reports the queues there
        queues = queues_of(namespace)
        resource = accelerator(cluster, workload, queues, rules)
        if resource is not None:
            yield Queueless(workload, resource, queues)


def _may_queue(workload: Workload) -> bool:
    """Whether a queue name on the workload or its pods has an effect."""
    if (workload.object.group, workload.kind) not in _QUEUED:
        return False
    if any(it.get("controller") for it in mappings(workload.object.data, *_OWNERS)):
        return False  # Kueue reads the label of its owner
    return all(it.spec.scheduler_name != "volcano" for it in workload.templates)


def names_a_queue(workload: Workload) -> bool:
    """Whether it names a queue anywhere; other rules report wrong places and misspelled keys."""
    if workload.labels.get(LOCAL_QUEUE):
        return True
    sources = [workload.labels, workload.annotations, labels(workload)]
    for template in workload.templates:
        sources += [template.labels, template.annotations]
    sources += [found for _, found in inner_labels(workload)]
    return any(found[key] for found in sources for key in found if _is_queue_key(key))


@lru_cache(1 << 12)  # few keys, but each workload has some
def _is_queue_key(key: str) -> bool:
    return "kueue" in key and "queue" in key.rpartition("/")[2]


def _queues(cluster: Cluster, namespace: str) -> Sequence[Entry[ClusterQueueView]]:
    """The ClusterQueues of the namespace's LocalQueues; without these, those that select only it."""
    local = cluster.local_queues.by_namespace.get(namespace, ())
    if local:
        found = (cluster.cluster_queues.get(it.fields.cluster_queue) for it in local)
        return [queue for queue in found if queue is not None]
    return [
        queue
        for queue in cluster.cluster_queues
        if (selector := queue.fields.namespace_selector) is not None
        and not selector.selects({NAMESPACE_NAME: "any-other-namespace"})
        and selects(cluster, selector, namespace)
    ]


def accelerator(
    cluster: Cluster,
    workload: Workload,
    queues: Sequence[Entry[ClusterQueueView]],
    rules: Settings,
) -> str | None:
    """An accelerator of the workload for which one of the queues has a flavor that fits."""
    for template in workload.templates if queues else ():
        for name, amount in accelerators.requested(cluster, template).items():
            counted = set(rules.charged({name: amount}))
            if any(_fits(cluster, queue, template, counted) for queue in queues):
                return name
    return None


def _fits(
    cluster: Cluster, queue: Entry[ClusterQueueView], template: PodTemplate, counted: set[str]
) -> bool:
    """Whether a queue has quota for a resource in a flavor that does not refuse the pods."""
    for group in queue.fields.resource_groups:
        for quotas in group.flavors if counted.intersection(group.covered_resources) else ():
            flavor = cluster.flavors.get(quotas.name)
            if flavor is None or refusal(flavor.fields, template.spec) is None:
                return True
    return False


def _running(facts: Facts) -> frozenset[tuple[str, str, str]]:
    """The owners of the pods that pod-bypasses-queue reports, by namespace, kind and name."""
    if "pod-bypasses-queue" not in facts.run or facts.cluster.seen is None:
        return frozenset()
    return frozenset(_owners(facts))


def _owners(facts: Facts) -> Iterator[tuple[str, str, str]]:
    for pool in facts.derive(pools):
        for holder in pool.past_queue:
            pod = holder.pod
            kind, name = (
                ("Pod", pod.name) if pod.owner is None else (pod.owner.kind, pod.owner.name)
            )
            yield pod.namespace, kind, name
            owner = maker(facts.cluster, pod)
            for above in mappings(owner.data, *_OWNERS) if owner else ():
                yield pod.namespace, str(above.get("kind")), str(above.get("name"))
