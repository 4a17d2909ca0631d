"""The jobs of a scene: those that wait or arrive, and those that run from the start.

Kueue's Workloads come first, since they say what Kueue decided. Then come objects for which Kueue will create
Workloads, and at last pods that Kueue does not manage.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from policygen.kubernetes.conditions import holds
from policygen.kubernetes.workloads import Workload
from policygen.simulate.arrival import Arrival
from policygen.simulate.jobs.arrival_maker import ArrivalMaker
from policygen.simulate.jobs.existing_pods import ExistingPods
from policygen.simulate.jobs.object_jobs import by_volcano, of_daemon, of_group, of_job, of_unqueued
from policygen.simulate.jobs.object_keys import ObjectKey, is_owned, key_of
from policygen.simulate.jobs.pod_jobs import other_pods
from policygen.simulate.jobs.reserved_quota import ReservedQuota
from policygen.simulate.jobs.workload_jobs import of_workload, owner_of
from policygen.simulate.kueue.jobs import QueuedJob, UnqueuedJob, jobs
from policygen.simulate.scene import Scene
from policygen.simulate.volcano.gangs import group_name


def arrivals(
    scene: Scene, default_duration: float | None = None, *, of_kueue: bool = False
) -> list[Arrival]:
    """The jobs of a scene that wait, arrive or run, in the order of their arrival.

    `default_duration` is how long a job runs that does not say it; running jobs run so long from now on.
    None: until the simulation ends. `of_kueue`: only the jobs that Kueue manages, which is faster.
    """
    made = _all(scene, ArrivalMaker(scene, default_duration), of_kueue=of_kueue)
    found = sorted(made, key=lambda it: it.at)
    named = Counter(it.name for it in found)
    return [
        it if named[it.name] == 1 else replace(it, name=f"{it.name} ({it.kind})") for it in found
    ]


def _all(scene: Scene, maker: ArrivalMaker, *, of_kueue: bool) -> Iterator[Arrival]:
    queued, unqueued = jobs(scene.cluster, scene.settings)
    by_owner: dict[ObjectKey, list[QueuedJob]] = {}
    for it in queued:
        by_owner.setdefault(key_of(it.owner), []).append(it)
    existing, quota = ExistingPods(scene.cluster), ReservedQuota(maker)
    known: set[ObjectKey] = set()
    for entry in scene.cluster.kueue_workloads:
        owner = owner_of(entry)
        if owner is not None:
            known.add(owner)
        if not holds(entry.object, "Finished"):
            yield of_workload(maker, existing, quota, entry, by_owner)
    with_pods = existing.by_root.keys()
    for owner, them in by_owner.items():
        if owner not in known and owner not in with_pods:
            for i, it in enumerate(them):
                yield of_job(maker, it, i, len(them))
    if of_kueue:
        return
    taken = known | with_pods
    others = (it for it in unqueued if not is_owned(it.owner) and key_of(it.owner) not in taken)
    yield from _all_unqueued(maker, others)
    yield from other_pods(maker, existing, known)


def _all_unqueued(maker: ArrivalMaker, unqueued: Iterable[UnqueuedJob]) -> Iterator[Arrival]:
    """Objects without a Workload. Those that join one PodGroup of Volcano are one job."""
    groups: dict[tuple[str, str], list[Workload]] = {}
    for job in unqueued:
        source = maker.source(key_of(job.owner))
        group = group_name(source) if source is not None and by_volcano(source) else ""
        if source is not None and group:
            groups.setdefault((source.namespace, group), []).append(source)
        else:
            is_daemon = (job.owner.group, job.owner.kind) == ("apps", "DaemonSet")
            yield (of_daemon if is_daemon else of_unqueued)(maker, job)
    for (namespace, name), sources in groups.items():
        yield of_group(maker, namespace, name, sources)
