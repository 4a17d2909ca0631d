"""LocalQueues in another namespace than the workloads that name them."""

from collections.abc import Mapping

from policygen.core.finding import At
from policygen.kubernetes.kueue_jobs import queued
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.workloads import Workload
from policygen.lint.rule import Facts


def misplaced_queues(facts: Facts) -> Mapping[At, tuple[Workload, ...]]:
    """By LocalQueue: the workloads of one namespace that name it, where its ClusterQueue takes them.

    Only LocalQueues whose ClusterQueue does not select their own namespace. Use it with `facts.derive`.
    """
    cluster = facts.cluster
    lost: dict[str, list[Workload]] = {}
    for job in cluster.derive(queued):
        if cluster.local_queues.get(job.name, job.workload.namespace) is None:
            lost.setdefault(job.name, []).append(job.workload)
    found = {}
    for local in cluster.local_queues if lost else ():
        queue = cluster.cluster_queues.get(local.fields.cluster_queue)
        selector = queue.fields.namespace_selector if queue else None
        if selector is None or selects(cluster, selector, local.namespace) is not False:
            continue
        users = [it for it in lost.get(local.name, ()) if selects(cluster, selector, it.namespace)]
        if len({it.namespace for it in users}) == 1:
            found[local.at] = tuple(users)
    return found
