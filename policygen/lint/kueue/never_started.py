"""Workloads that Kueue and the nodes do not start, even if no other workload runs.

Found by a simulation of Kueue 0.19 and kube-scheduler that tries one workload after the other.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.kueue_jobs import target
from policygen.kubernetes.object import Object
from policygen.kubernetes.table import Entry
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.pod_demands import pod_demands
from policygen.lint.kueue.admission_checks import flavors_of_other_nodes
from policygen.lint.kueue.simulated import (
    JOB_S,
    Owners,
    check_size,
    has_queued_jobs,
    open_namespaces,
    scene_of,
)
from policygen.lint.rule import Facts

if TYPE_CHECKING:  # inputs without queued jobs need no simulation
    from policygen.simulate.scene import Scene
    from policygen.simulate.why.causes import Cause


class NeverStarted(Struct, frozen=True, eq=False):
    """A workload that waits on a platform without others."""

    owner: Object
    """The object that a user created."""
    queue: Entry[ClusterQueueView]
    cause: "Cause"


def never_started(facts: Facts) -> Sequence[NeverStarted]:
    """Such workloads, one for each object; use it with `facts.derive`.

    Raises NotEvaluatedError for an input with too many jobs.
    """
    return tuple(_never_started(facts)) if has_queued_jobs(facts) and _has_choice(facts) else ()


def _has_choice(facts: Facts) -> bool:
    """Whether Kueue chooses for jobs between flavors, or domains of a topology; other rules know the rest."""
    known = facts.cluster.flavors
    queues = (facts.cluster.cluster_queues.get(target(it)) for it in facts.cluster.local_queues)
    for queue in queues:
        for group in queue.fields.resource_groups if queue is not None else ():
            flavors = [it for each in group.flavors if (it := known.get(each.name)) is not None]
            if len(flavors) > 1 or any(it.fields.topology_name for it in flavors):
                return True
    return False


def _beside_daemons(facts: Facts, scene: "Scene") -> "Scene":
    """The scene with what DaemonSets leave of its nodes, since only jobs of Kueue are tried."""
    if not facts.cluster.nodes.any:
        return scene
    demands = [way.demand for it in facts.derive(pod_demands) for way in it.ways]
    left = facts.derive(node_index).of(*demands).nodes.all
    nodes = (
        replace(it, allocatable={**it.allocatable, **beside.allocatable})
        for it, beside in zip(scene.nodes, left, strict=True)
    )
    return replace(scene, nodes=tuple(nodes))


def _never_started(facts: Facts) -> Iterator[NeverStarted]:
    check_size(facts, of_kueue=True)
    from policygen.simulate.scene_jobs import arrivals  # noqa: PLC0415 - most inputs need no simulation
    from policygen.simulate.why.alone import EmptyPlatform  # noqa: PLC0415 - the same

    scene = _beside_daemons(facts, scene_of(facts, nodes=True))
    jobs = [
        it
        for it in arrivals(scene, JOB_S, of_kueue=True)
        if it.workload is not None
        and it.workload.admission is None
        and it.workload.active
        and not (it.refusal or it.unscheduled or it.unmodelled)
    ]
    platform = EmptyPlatform(scene)
    open_namespaces(facts, platform.state, jobs)
    owners, others = Owners(facts), facts.cluster.derive(flavors_of_other_nodes)
    seen: set[int] = set()
    for job in jobs:
        owner = owners.of(job)
        if owner is None or id(owner) in seen or job.workload is None:
            continue
        name = platform.state.local_queues.get(job.workload.queue)
        queue = facts.cluster.cluster_queues.get(name) if name is not None else None
        if queue is None:
            continue
        cause = platform.cause(job)
        if cause is not None and not (cause.never is not None and others.intersection(cause.names)):
            seen.add(id(owner))
            yield NeverStarted(owner, queue, cause)
