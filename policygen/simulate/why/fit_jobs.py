"""The queues and pools that a request of `policygen fit` can mean, and its job in each of them."""

import dataclasses
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.quoting import some
from policygen.kubernetes import accelerators, priorities
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.kueue_workloads import PodSetTemplate, PodSetView, WorkloadView
from policygen.kubernetes.schedulers import VOLCANO
from policygen.kubernetes.workloads import Container, PodSpec, Resources
from policygen.plan.kubernetes import priority_class_name
from policygen.plan.pool import PoolFacts, resolve
from policygen.plan.scheduler import scheduler_name
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.kueue.amounts import counted, shown
from policygen.simulate.scene import Scene
from policygen.simulate.why.changes import Change, FieldChange, PodsChange, pod_spec
from policygen.simulate.why.pool_access import spec_trees
from policygen.simulate.why.quota_changes import toward
from policygen.simulate.why.scene_changes import arrival_of, with_object
from policygen.simulate.why.situation import AskedWorkload
from policygen.spec.types import Scheduler

KUBE_SCHEDULER: Final = "kube-scheduler"
NAME = "fit"
"""The name of the job."""
_OF_PODS = ("replicas", "parallelism")
_FOLLOWING = ("completions", "minAvailable")
"""Fields of a job that have the number of its pods, too."""


class FitError(ValueError):
    """The request names a team, pool or queue that does not exist."""


class FitRequest(Struct, frozen=True):
    """A job that a team could submit."""

    team: str
    """Its team, or its namespace."""
    gpus: int
    """Of each pod."""
    pods: int = 1
    pool: str = ""
    """The pool, flavor or queue; empty: the first one of the team in which the job runs now."""
    resource: str = ""
    """The name of the GPU resource; empty: the one of which the queue has a quota."""
    cpu: Fraction | None = None
    memory: Fraction | None = None
    priority: str = ""
    """A WorkloadPriorityClass; in a queue of Volcano, a PriorityClass."""


class QueueChoice(Struct, frozen=True):
    """A queue that a request can mean, or a pool of kube-scheduler."""

    namespace: str
    queue: str
    """Empty: a pool of kube-scheduler."""
    resource: str
    pool: str
    """The flavor, or the pool of Volcano; empty: a queue of Volcano whose pool is not known."""
    scheduler: Scheduler = "kueue"


def submitted(
    scene: Scene, arrivals: Sequence[Arrival], request: FitRequest, choice: QueueChoice
) -> tuple[Scene, Arrival]:
    """The job in a queue or pool, and the scene with it. Raises FitError."""
    arrival: Arrival | None
    if choice.scheduler == "kueue":
        arrival = _last(_made(scene, request, choice), arrivals)
    else:
        group, data = _object(scene, request, choice)
        scene = with_object(scene, data)
        arrival = arrival_of(scene, (group, "Job", choice.namespace, NAME))
    if arrival is None:
        raise FitError(f"the job cannot be created in namespace {choice.namespace}")
    return scene, arrival


def without_object(change: Change) -> Iterator[Change]:
    """The same change of a job that does not exist yet: of what the request asks, if it asks that."""
    if not isinstance(change, FieldChange) or (change.kind, change.name) != ("Job", NAME):
        yield change
    elif change.path[-1] in _OF_PODS:
        yield PodsChange("main", change.before, change.after)
    elif change.path[-1] not in _FOLLOWING:
        yield replace(change, namespace="", name="")


def _last(job: Arrival, arrivals: Sequence[Arrival]) -> Arrival:
    """The job, created after all others."""
    workload = job.workload
    if workload is None:
        return job
    last = max((it.workload.created for it in arrivals if it.workload), default=0.0)
    return replace(job, workload=dataclasses.replace(workload, created=max(last, 0.0) + 1))


def choices(scene: Scene, request: FitRequest) -> list[QueueChoice]:
    """The queues and pools that a request can mean. Raises FitError."""
    known = dict.fromkeys(
        (*_namespaces(scene), *_volcano_namespaces(scene), *_other_namespaces(scene))
    )
    namespaces = [it for it in known if scene.team(it) == request.team]
    namespaces = namespaces or [it for it in known if it == request.team]
    if not namespaces:
        teams = ", ".join(sorted({scene.team(it) for it in known}))
        others = f"teams with one: {teams}" if teams else "add the SPEC or manifests of queues"
        raise FitError(
            f"team {request.team} has no LocalQueue, no queue of Volcano and no quota in a pool of "
            f"kube-scheduler; {others}"
        )
    every = [
        *_of_kueue(scene.cluster, namespaces),
        *_of_volcano(scene, namespaces),
        *_of_kube_scheduler(scene, namespaces),
    ]
    found = [
        it
        for it in every
        if request.pool in ("", it.pool, it.queue) and request.resource in ("", it.resource)
    ]
    if found:
        # One LocalQueue has several flavors, of which Kueue chooses, unless one is named.
        first = {(it.namespace, it.queue, it.resource): it for it in reversed(found)}
        return list(reversed(first.values()))
    has = sorted({f"{it.resource} in {it.pool or it.queue}" for it in every})
    what = f"pool {request.pool}" if request.pool else "any pool"
    raise FitError(
        f"team {request.team} has no quota of {request.resource or 'GPUs'} in {what}; "
        f"it has {some(has, 'other') if has else 'no quota of GPUs at all'}"
    )


def _namespaces(scene: Scene) -> dict[str, None]:
    return dict.fromkeys(it.namespace for it in scene.cluster.local_queues)


def _volcano_namespaces(scene: Scene) -> list[str]:
    """The namespaces of teams that have a queue of Volcano: without a spec, those of the input."""
    if scene.spec is None:
        return [it.name for it in scene.cluster.namespaces] if scene.cluster.queues else []
    return _namespaces_of(scene, VOLCANO)


def _other_namespaces(scene: Scene) -> list[str]:
    """The namespaces of teams with a quota in a pool of kube-scheduler, which only a spec has."""
    return _namespaces_of(scene, KUBE_SCHEDULER)


def _namespaces_of(scene: Scene, scheduler: Scheduler) -> list[str]:
    teams = {team for _, team, _ in _queues_of_spec(scene, scheduler)}
    return [it for it, team in scene.teams.items() if team in teams]


def _queues_of_spec(scene: Scene, scheduler: Scheduler) -> Iterator[tuple[str, str, PoolFacts]]:
    """The shares that a spec gives teams in pools of a scheduler: name of the queue, team and pool."""
    for tree in spec_trees(scene.spec) if scene.spec is not None else ():
        if tree.scheduler == scheduler:
            for leaf in tree.leaves:
                yield tree.name_of(leaf), leaf.team.name, tree.pools[0]


def _of_kueue(cluster: Cluster, namespaces: Sequence[str]) -> Iterator[QueueChoice]:
    """The LocalQueues of namespaces, with their flavors and GPU resources."""
    for namespace in namespaces:
        for local in cluster.local_queues.by_namespace.get(namespace, ()):
            entry = cluster.cluster_queues.get(local.fields.cluster_queue)
            for flavor, resource in _gpus(entry.fields) if entry is not None else ():
                yield QueueChoice(namespace, local.name, resource, flavor)


def _of_volcano(scene: Scene, namespaces: Sequence[str]) -> Iterator[QueueChoice]:
    """The queues of Volcano of namespaces: those of the spec, or that have an amount of GPUs."""
    if scene.spec is not None:
        for name, team, pool in _queues_of_spec(scene, VOLCANO):
            for namespace in (it for it in namespaces if scene.team(it) == team):
                for resource in pool.resources:
                    yield QueueChoice(namespace, name, resource, pool.name, scheduler=VOLCANO)
        return
    parents = {it.fields.parent for it in scene.cluster.queues}
    for entry in scene.cluster.queues:
        amounts = {**entry.fields.deserved, **entry.fields.capability}
        for resource in filter(accelerators.is_one, amounts):
            if entry.name not in parents:
                yield QueueChoice(namespaces[0], entry.name, resource, "", scheduler=VOLCANO)


def _of_kube_scheduler(scene: Scene, namespaces: Sequence[str]) -> Iterator[QueueChoice]:
    """The pools of kube-scheduler in which the teams of namespaces have a quota."""
    for _, team, pool in _queues_of_spec(scene, KUBE_SCHEDULER):
        for namespace in (it for it in namespaces if scene.team(it) == team):
            for resource in pool.resources:
                yield QueueChoice(namespace, "", resource, pool.name, KUBE_SCHEDULER)


def _object(scene: Scene, request: FitRequest, choice: QueueChoice) -> tuple[str, dict[str, Any]]:
    """The API group of a Job, and the Job as the team would write it for Volcano or kube-scheduler."""
    amounts = {"cpu": request.cpu, "memory": request.memory}
    written = {name: shown(name, counted(name, it)) for name, it in amounts.items() if it}
    written[choice.resource] = str(request.gpus)
    pods: dict[str, Any] = {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "resources": {"requests": written, "limits": written}}],
    }
    shares = _queues_of_spec(scene, choice.scheduler)
    pool = next((it for _, _, it in shares if it.name == choice.pool), None)
    if pool is not None:
        pods["nodeSelector"] = dict(pool.pool.node_selector)
        pods["tolerations"] = [
            {"key": it.key, "operator": "Exists", "effect": it.effect} for it in pool.pool.taints
        ]
    metadata = {"name": NAME, "namespace": choice.namespace}
    if choice.scheduler == VOLCANO:
        tasks = [{"name": "main", "replicas": request.pods, "template": {"spec": pods}}]
        spec: dict[str, Any] = {
            "schedulerName": VOLCANO,
            "queue": choice.queue,
            "minAvailable": request.pods,
            "tasks": tasks,
        }
        if request.priority:
            spec["priorityClassName"] = _class(scene, request.priority)
        version = f"{VOLCANO_BATCH}/v1alpha1"
        return VOLCANO_BATCH, _job(version, metadata, spec)
    if scene.spec is not None and pool is not None:
        name = scheduler_name(scene.spec.platform, pool)
        pods |= {"schedulerName": name} if name is not None else {}
        if request.priority:
            facts = [*resolve(scene.spec)[0].values()]
            made = priority_class_name(scene.spec, facts, request.priority, pool)
            pods["priorityClassName"] = _class(scene, made)
    spec = {"parallelism": request.pods, "completions": request.pods, "template": {"spec": pods}}
    return "batch", _job("batch/v1", metadata, spec)


def _job(version: str, metadata: dict[str, str], spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": version, "kind": "Job", "metadata": metadata, "spec": spec}


def _class(scene: Scene, name: str) -> str:
    """The name of a PriorityClass that exists. Raises FitError."""
    classes = scene.cluster.priority_classes
    if name not in classes.names():
        names = ", ".join(it.name for it in classes)
        raise FitError(f"PriorityClass {name} does not exist; it can be: {names or 'none'}")
    return name


def _gpus(queue: ClusterQueueView) -> Iterator[tuple[str, str]]:
    """The flavors of a queue, each with its GPU resource."""
    for group in queue.resource_groups:
        for flavor in group.flavors:
            for it in flavor.resources:
                if accelerators.is_one(it.name):
                    yield flavor.name, it.name


def _made(scene: Scene, request: FitRequest, choice: QueueChoice) -> Arrival:
    """A Job for Kueue."""
    namespace, queue, flavor, resource = (
        choice.namespace, choice.queue, choice.pool, choice.resource,
    )  # fmt: skip
    cluster = scene.cluster
    amounts = {"cpu": request.cpu, "memory": request.memory, resource: Fraction(request.gpus)}
    requests = {name: amount for name, amount in amounts.items() if amount}
    spec = PodSpec(
        containers=(Container("main", "", Resources(requests, requests)),),
        scheduler_name=scene.schedulers.get(flavor, ""),
    )
    fields = _fields(cluster, request, queue, spec)
    asked = AskedWorkload(f"{namespace}/{NAME}", "Job", fields)
    entry = cluster.flavors.get(flavor)
    if entry is not None and request.pool:
        if _selects(cluster, namespace, queue):
            labels = dict(entry.fields.node_labels)
            spec = replace(spec, node_selector=labels)
        fields = _fields(cluster, request, queue, spec)
        asked = AskedWorkload(f"{namespace}/{NAME}", "Job", fields)
        for change in toward(asked, "main", entry.fields):
            spec = pod_spec(spec, change)
        fields = _fields(cluster, request, queue, spec)
        asked = AskedWorkload(f"{namespace}/{NAME}", "Job", fields)
    batch = PodBatch("main", request.pods, spec)
    team = scene.team(namespace)
    workload = asked.queued(scene.settings)
    of_pods = priorities.default(cluster)
    return Arrival(asked.name, "Job", team, 0.0, None, workload, (batch,), of_pods)


def _selects(cluster: Cluster, namespace: str, queue: str) -> bool:
    """Whether the queue has several flavors, so that the job must select one."""
    local = cluster.local_queues.get(queue, namespace)
    entry = cluster.cluster_queues.get(local.fields.cluster_queue) if local else None
    groups = entry.fields.resource_groups if entry else ()
    return any(len(it.flavors) > 1 for it in groups)


def _fields(cluster: Cluster, request: FitRequest, queue: str, spec: PodSpec) -> WorkloadView:
    value = priorities.default(cluster)
    if request.priority:
        entry = cluster.workload_priority_classes.get(request.priority)
        if entry is None:
            names = ", ".join(it.name for it in cluster.workload_priority_classes)
            raise FitError(
                f"WorkloadPriorityClass {request.priority} does not exist; it can be: {names or 'none'}"
            )
        value = entry.fields.value
    pods = PodSetView("main", request.pods, None, PodSetTemplate(spec))
    return WorkloadView(queue, value, (pods,))
