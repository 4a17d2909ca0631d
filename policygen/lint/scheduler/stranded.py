"""Pods of the input that wait only because a profile of kube-scheduler does not pack GPUs.

Found by a simulation of kube-scheduler on empty nodes. Quota does not count, except that it chooses flavors.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from policygen.core.names import DEFAULT_SCHEDULER
from policygen.kubernetes.object import Object
from policygen.lint.kueue.simulated import JOB_S, Owners, check_size, open_namespaces, scene_of
from policygen.lint.rule import Facts, TooLargeError

if TYPE_CHECKING:  # most inputs need no simulation
    from policygen.simulate.arrival import Arrival
    from policygen.simulate.placement.shape import PodShape
    from policygen.simulate.placement.stranding import Stranding
    from policygen.simulate.scene import Scene
    from policygen.simulate.why.alone import EmptyPlatform

_MOST_PODS = 5_000


class StrandedPods(Struct, frozen=True, eq=False):
    """The pods of a profile that wait while GPUs are free."""

    stranding: "Stranding"
    owners: Sequence[Object]
    """Of the pods that wait, the objects that users created."""


def stranded(facts: Facts) -> Mapping[str, StrandedPods]:
    """Such pods by the name of their profile; use it with `facts.derive`.

    Raises TooLargeError for an input with too many jobs or pods.
    """
    configurations = facts.cluster.scheduler_configurations
    names = {profile.scheduler_name for it in configurations for profile in it.fields.profiles}
    used = {
        template.spec.scheduler_name or DEFAULT_SCHEDULER
        for workload in facts.cluster.workloads
        for template in workload.templates
    }
    if names.isdisjoint(used):
        return {}
    check_size(facts)
    from policygen.simulate.placement.profile import profile as read  # noqa: PLC0415 - as above
    from policygen.simulate.placement.stranding import accelerators_of, stranding  # noqa: PLC0415 - as above

    scene = scene_of(facts, nodes=True)
    pods: dict[str, list[tuple[PodShape, int, Arrival]]] = {}
    for shape, count, job in _pods(facts, scene):
        pods.setdefault(shape.scheduler, []).append((shape, count, job))
    found = {}
    owners = Owners(facts)
    for view in (profile for it in configurations for profile in it.fields.profiles):
        mine = pods.get(view.scheduler_name, ())
        if len({accelerators_of(it) for it, _, _ in mine}) < 2:
            continue  # pods of one size leave no node with a part of its GPUs
        if sum(count for _, count, _ in mine) > _MOST_PODS:
            raise TooLargeError(
                f"lint simulates at most {_MOST_PODS} pods, and profile {view.scheduler_name} has more"
            )
        result = stranding(scene.nodes, read(view), [(shape, count) for shape, count, _ in mine])
        if result is not None:
            waiting = [owners.of(job) for it, _, job in mine if it in result.now.waiting]
            unique = dict.fromkeys(it for it in waiting if it is not None)
            found[view.scheduler_name] = StrandedPods(result, tuple(unique))
    return found


def _pods(facts: Facts, scene: "Scene") -> Iterator[tuple["PodShape", int, "Arrival"]]:
    """The shapes of pods with accelerators, with the flavors that Kueue gives them."""
    from policygen.simulate.placement.stranding import accelerators_of  # noqa: PLC0415 - as above
    from policygen.simulate.scene_jobs import arrivals  # noqa: PLC0415 - as above
    from policygen.simulate.scene_schedulers import kube_scheduler, shapes  # noqa: PLC0415 - as above
    from policygen.simulate.why.alone import EmptyPlatform  # noqa: PLC0415 - as above

    kube = kube_scheduler(scene)
    if kube is None:
        return
    jobs = arrivals(scene, JOB_S)
    platform = EmptyPlatform(scene)
    open_namespaces(facts, platform.state, jobs)
    make = shapes(scene, kube)
    for job in jobs:
        if job.refusal or job.unscheduled or job.gang is not None:
            continue
        chosen = _flavors(platform, job)
        if chosen is None:
            continue
        for batch in job.pods:
            shape = make(job, batch, chosen.get(batch.name, {}), {})
            if shape is not None and accelerators_of(shape):
                yield shape, batch.count, job


def _flavors(platform: "EmptyPlatform", job: "Arrival") -> Mapping[str, Mapping[str, str]] | None:
    """The flavors by pod set; empty: no queue has it. None: its queue does not admit it."""
    workload = job.workload
    if workload is None:
        return {}
    admission = workload.admission
    if admission is not None:
        return {it.name: it.flavors for it in admission.pod_sets}
    if platform.state.local_queues.get(workload.queue, "") not in platform.state.queues:
        return None
    return platform.flavors(workload)
