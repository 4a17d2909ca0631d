"""What rules simulate: the scene of the input, and the objects of its jobs."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from policygen.core.names import LOCAL_QUEUE
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_jobs import DEFAULT_QUEUE, managed, queued
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.kueue.configuration import settings
from policygen.lint.rule import Facts, NotEvaluatedError, TooLargeError

if TYPE_CHECKING:  # most inputs need no simulation
    from policygen.simulate.arrival import Arrival
    from policygen.simulate.kueue.state import QueueState
    from policygen.simulate.scene import Scene

READS: Final = (
    "AdmissionCheck", "Cohort", "Configuration", "LimitRange", "LocalQueue", "Namespace", "PodGroup",
    "PriorityClass", "Queue", "ResourceFlavor", "ResourceQuota", "RuntimeClass", "Topology", "Workload",
    "WorkloadPriorityClass", *KINDS,
)  # fmt: skip
"""The kinds that a simulation of Kueue reads, besides ClusterQueues and nodes."""
JOB_S: Final = 3600.0
"""How long jobs run that do not say it."""
_MOST_JOBS = 1_000


def scene_of(facts: Facts, *, nodes: bool = False) -> "Scene":
    """The scene of the input; with `nodes` also the nodes of the input, or those of the pools of a spec.

    Raises NotEvaluatedError if Kueue refuses a queue because a flavor lacks a covered resource.
    """
    for queue in facts.cluster.cluster_queues:
        for group in queue.fields.resource_groups:
            for flavor in group.flavors:
                if not {it.name for it in flavor.resources}.issuperset(group.covered_resources):
                    raise NotEvaluatedError(
                        f"lint does not simulate {queue}, in which flavor {flavor.name} has no quota "
                        "for a resource of coveredResources"
                    )
    from policygen.simulate import scene_pools  # noqa: PLC0415 - most inputs need no simulation
    from policygen.simulate.scene import Scene  # noqa: PLC0415 - the same

    found = Scene(facts.cluster, settings(facts))
    if not nodes:
        return found
    if facts.cluster.nodes.any or facts.plan is None:
        known = scene_pools.cluster_nodes(facts.cluster)
    else:
        known, _ = scene_pools.spec_nodes(facts.plan.pools)
    return Scene(facts.cluster, settings(facts), known)


def check_size(facts: Facts, *, of_kueue: bool = False) -> None:
    """Raises TooLargeError for an input with too many jobs to simulate; `of_kueue`: only jobs of Kueue are."""
    cluster = facts.cluster
    which = "jobs of Kueue" if of_kueue else "jobs and pods"
    count = sum(1 for _ in cluster.kueue_workloads) + (0 if of_kueue else len(cluster.pods))
    count += sum(map(_jobs, _of_kueue(cluster) if of_kueue else cluster.workloads))
    if count > _MOST_JOBS:
        raise TooLargeError(
            f"lint simulates at most {_MOST_JOBS} {which}, and the input has {count}"
        )


def _of_kueue(cluster: Cluster) -> Iterator[Workload]:
    """The workloads that name a queue, or that may use the default queue of their namespace."""
    held = {id(it.workload) for it in cluster.derive(queued)}
    for it in cluster.workloads:
        default = cluster.local_queues.knows(DEFAULT_QUEUE, it.namespace)
        if id(it) in held or LOCAL_QUEUE in it.labels or default:
            yield it


def _jobs(workload: Workload) -> int:
    """The number of jobs to simulate: Kueue makes one for each pod or group of a serving workload."""
    replicas = workload.spec.get("replicas")
    if LOCAL_QUEUE not in workload.labels or not isinstance(replicas, int):
        return 1
    return max(1, replicas) if workload.kind != "StatefulSet" else 1


def has_queued_jobs(facts: Facts) -> bool:
    """Whether Kueue queues jobs of the input, also by a LocalQueue `default`."""
    cluster = facts.cluster
    return (
        cluster.kueue_workloads.any
        or bool(cluster.derive(queued))
        or any(cluster.local_queues.knows(DEFAULT_QUEUE, it.namespace) for it in managed(cluster))
    )


def open_namespaces(facts: Facts, state: "QueueState", jobs: Iterable["Arrival"]) -> None:
    """Let queues admit jobs of namespaces that they may select; the input may not have the namespaces."""
    used = {
        (name, it.name.partition("/")[0])
        for it in jobs
        if it.workload is not None
        and (name := state.local_queues.get(it.workload.queue, "")) in state.queues
    }
    for name, namespace in used:
        entry = facts.cluster.cluster_queues.get(name)
        selector = entry.fields.namespace_selector if entry is not None else None
        if selector is not None and selects(facts.cluster, selector, namespace) is not False:
            state.queues[name].namespaces |= {namespace}


class Owners:
    """The objects of jobs."""

    def __init__(self, facts: Facts) -> None:
        objects = [it.object for it in facts.cluster.workloads]
        objects += [it.object for it in facts.cluster.kueue_workloads]
        self._found = {(it.kind, it.namespace or "default", it.name): it for it in objects}

    def of(self, job: "Arrival") -> Object | None:
        """The object that a user created; None: the input does not have it."""
        namespace, _, name = job.object_name.partition("/")
        found = self._found.get((job.kind, namespace, name))
        # A job with several Workloads has a number behind its name.
        return found or self._found.get((job.kind, namespace, name.rpartition("-")[0]))
