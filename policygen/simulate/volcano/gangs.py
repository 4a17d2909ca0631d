"""The PodGroups that Volcano's controllers create for objects.

Source: pkg/controllers/{job,podgroup} and pkg/webhooks/admission/jobs of Volcano 1.14.1.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec.structs import replace

from policygen.core.go_values import integer as parsed
from policygen.kubernetes import priorities
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import integer, mappings, text, texts
from policygen.kubernetes.volcano import PodGroupView
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.simulate.arrival import Arrival, GangSettings, GangTask, PodBatch
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.volcano.amounts import counted
from policygen.simulate.volcano.build import DEFAULT_QUEUE, task_of
from policygen.simulate.volcano.job import TaskStatus, VolcanoJob, VolcanoTask

_LARGEST = 2**31 - 1
"""The largest minimum that Volcano reads; it ignores others."""
_GROUP = "scheduling.k8s.io/group-name"
QUEUE = "scheduling.volcano.sh/queue-name"
_MIN_MEMBER = "scheduling.volcano.sh/group-min-member"
_ROLE = "volcano.sh/task-spec"
_EVICTED = {"PodEvicted", "*"}
_RESTARTS = "RestartJob"
_COMPLETED = {"TaskCompleted", "*"}
_COMPLETES = "CompleteJob"


def gang_of(cluster: Cluster, workload: Workload) -> GangSettings | None:
    """The PodGroup of an object whose pods Volcano schedules.

    None: its pods join a PodGroup by name (`group_name`), which other objects may join too.
    """
    if workload.object.group == VOLCANO_BATCH:
        return _of_job(cluster, workload)
    return None if group_name(workload) else _of_pods(cluster, workload)


def group_name(workload: Workload) -> str:
    """The PodGroup that the pods of an object join by name; empty: they have their own."""
    if workload.object.group == VOLCANO_BATCH:
        return ""
    names = (it.annotations.get(_GROUP, "") for it in workload.templates)
    return next(filter(None, names), "")


def gang_of_group(
    cluster: Cluster, entry: Entry[PodGroupView], templates: Iterable[PodTemplate]
) -> GangSettings:
    """Of a PodGroup that users created, and the pods of all objects that join it."""
    fields = entry.fields
    return GangSettings(
        queue=fields.queue or DEFAULT_QUEUE,
        tasks=tuple(_task(cluster, it, it.annotations.get(_ROLE, "")) for it in templates),
        least=fields.min_member,
        role_minimums=fields.min_task_member,
        resources=fields.min_resources,
        priority=_priority(cluster, fields.priority_class_name),
        group=entry.name,
    )


def with_pods(gang: GangSettings, pods: Sequence[PodBatch], *, group: bool) -> GangSettings:
    """The PodGroup after a change of the pods. `group`: users created it, so it stays as it is."""
    counts = [it.count for it in pods]
    least = min(gang.least, sum(counts))
    if group:
        return gang
    if not gang.enqueued_first:
        return replace(gang, least=least, resources=_sum(pods, [(0, least)]))
    minimums = [gang.role_minimums.get(it.role, 0) for it in gang.tasks]
    taken = _minimum(least, gang.tasks, counts, minimums)
    return replace(gang, least=least, resources=_sum(pods, taken))


def _minimum(
    least: int, tasks: Sequence[GangTask], counts: Sequence[int], minimums: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """The pods that count for minResources: index of the task and number."""
    order = sorted(range(len(tasks)), key=lambda it: -tasks[it].priority)
    if least < sum(minimums):
        return _first(least, ((it, counts[it]) for it in order))
    parts = [(it, minimums[it]) for it in order]
    parts += [(it, counts[it] - minimums[it]) for it in order]
    return _first(least, parts)


def _of_job(cluster: Cluster, workload: Workload) -> GangSettings:
    """Of a Job of Volcano."""
    spec = workload.spec
    written = mappings(spec, "tasks")
    names = [text(it, "name") or f"default{i}" for i, it in enumerate(written)]
    counts = [_number(it.replicas) for it in workload.templates]
    minimums = [
        count if (least := integer(it.get("minAvailable"))) is None else least
        for it, count in zip(written, counts, strict=False)
    ]
    least = integer(spec.get("minAvailable")) or sum(minimums)
    tasks = tuple(
        replace(
            _task(cluster, template, name),
            completes=_acts((spec, one), _COMPLETES, _COMPLETED),
        )
        for template, name, one in zip(workload.templates, names, written, strict=False)
    )
    return GangSettings(
        queue=text(spec, "queue") or DEFAULT_QUEUE,
        tasks=tasks,
        least=least,
        role_minimums=dict(zip(names, minimums, strict=False)),
        resources=_sum(workload.templates, _minimum(least, tasks, counts, minimums)),
        priority=_priority(cluster, text(spec, "priorityClassName")),
        enqueued_first=True,
        restarts=_acts([spec], _RESTARTS, _EVICTED),
        min_success=integer(spec.get("minSuccess")),
        group=f"{workload.name}-{_uid(workload)}",
    )


def _acts(written: Iterable[Mapping[str, Any]], action: str, events: Container[str]) -> bool:
    """Whether the policies of a job, or of one of its tasks, have an action for some of these events."""
    return any(
        it.get("action") == action
        and any(event in events for event in (text(it, "event"), *texts(it, "events")))
        for of in written
        for it in mappings(of, "policies")
    )


def _of_pods(cluster: Cluster, workload: Workload) -> GangSettings:
    """Of the pods of another object, which share a PodGroup."""
    first = workload.templates[0]
    annotations = {**workload.annotations, **first.annotations}
    written = parsed(workload.annotations.get(_MIN_MEMBER, ""))
    least = 1 if written is None or not 0 <= written <= _LARGEST else written
    return GangSettings(
        queue=annotations.get(QUEUE) or DEFAULT_QUEUE,
        tasks=tuple(_task(cluster, it, it.annotations.get(_ROLE, "")) for it in workload.templates),
        least=least,
        resources=_sum(workload.templates, [(0, least)]),
        priority=_priority(cluster, first.spec.priority_class_name),
        group="podgroup-" + ("" if workload.object.kind == "Deployment" else _uid(workload)),
    )


def _uid(workload: Workload) -> str:
    """The UID of an object of a cluster; empty: that of manifests is not known."""
    return text(workload.object.data, "metadata", "uid")


def _task(cluster: Cluster, template: PodTemplate, role: str) -> GangTask:
    name = template.spec.priority_class_name
    found = cluster.priority_classes.get(name) if name else None
    never = found is not None and found.fields.preemption_policy == "Never"
    return GangTask(role, _priority(cluster, name), not never, template.annotations)


def _priority(cluster: Cluster, name: str) -> int:
    """The priority of a class; with a class that does not exist, that of pods without one.

    Source: pkg/scheduler/cache/cache.go of Volcano 1.14.1, Snapshot.
    """
    found = priorities.of_class(cluster, name)
    return priorities.default(cluster) if found is None else found


def _number(replicas: int | None) -> int:
    return 0 if replicas is None else replicas


def _first(count: int, parts: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pods of each task, in their order, until `count` is reached: index and number."""
    for index, most in parts:
        yield index, min(count, most)
        count -= min(count, most)


def _sum(
    templates: Sequence[PodTemplate | PodBatch], pods: Iterable[tuple[int, int]]
) -> Mapping[str, Fraction]:
    """The requests of pods, given by index of the template and number."""
    found: dict[str, Fraction] = {}
    for index, count in pods:
        for name, amount in templates[index].spec.requests.items():
            found[name] = found.get(name, Fraction(0)) + count * amount
    return found


def gang_job(
    arrival: Arrival, gang: GangSettings, shapes: Sequence[PodShape | None], now: float
) -> VolcanoJob:
    """What Volcano's scheduler knows of a job. Pods without a shape need no node that is known."""
    made = VolcanoJob(
        arrival.name,
        gang.queue,
        min_available=gang.least,
        role_minimums=gang.role_minimums,
        min_resources=None if gang.resources is None else counted(gang.resources),
        priority=gang.priority,
        created=now,
        group="" if gang.group.endswith("-") else f"{arrival.namespace}/{gang.group}",
    )
    free = 0
    for number, (batch, task, shape) in enumerate(
        zip(arrival.pods, gang.tasks, shapes, strict=True)
    ):
        if shape is None:
            free += batch.count
            continue
        requests = counted(batch.spec.requests)
        for i in range(batch.count):
            name = f"{arrival.name}-{task.role or number}-{i}"
            pod = task_of(name, shape, batch.spec, task.annotations, requests)
            pod.role, pod.priority, pod.preempts = task.role, task.priority, task.preempts
            pod.created, pod.batch = now, number
            made.unborn.append(pod)
    if free:
        made.min_available = max(gang.least - free, 0)
        made.role_minimums = {}
    if not gang.enqueued_first:
        for pod in made.unborn:
            made.add(pod)
        made.unborn.clear()
    return made


def running_task(job: VolcanoJob, shape: PodShape, node: int) -> VolcanoTask:
    """A pod of a job that runs on a node."""
    running = job.by_status[TaskStatus.RUNNING].values()
    return next(it for it in running if it.shape is shape and it.node == node)
