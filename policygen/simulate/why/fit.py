"""Whether a job that does not exist yet would run now, and if not, when and why not."""

import dataclasses
from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.quoting import some
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.kueue_workloads import PodSetTemplate, PodSetView, WorkloadView
from policygen.kubernetes.workloads import Container, PodSpec, Resources
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.scene import Scene
from policygen.simulate.why.changes import pod_spec
from policygen.simulate.why.explanation import Explainer, Explanation
from policygen.simulate.why.quota_changes import toward
from policygen.simulate.why.remedy import Cost
from policygen.simulate.why.situation import AskedWorkload
from policygen.simulate.why.start import Start

NAME = "fit"
"""The name of the job."""


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
    """The pool, flavor or LocalQueue; empty: the first LocalQueue of the team with a quota of GPUs."""
    resource: str = ""
    """The name of the GPU resource; empty: the one of which the queue has a quota."""
    cpu: Fraction | None = None
    memory: Fraction | None = None
    priority: str = ""
    """A WorkloadPriorityClass."""


class FitAnswer(Struct, frozen=True, eq=False):
    """Whether a job would run now."""

    request: FitRequest
    namespace: str
    queue: str
    resource: str
    explanation: Explanation
    cost: Cost | None
    """What it costs others if it runs now; None: it does not."""
    start: Start | None = None
    """None: it would run now, or waiting does not help."""


def fit(scene: Scene, arrivals: Sequence[Arrival], request: FitRequest) -> FitAnswer:
    """Whether the job would run now. Raises FitError."""
    namespace, queue, resource, arrival = _arrival(scene, request)
    arrival = _last(arrival, arrivals)
    explainer = Explainer(scene, arrivals)
    explanation = explainer.explain(arrival)
    start = None
    if explanation.waits and not explanation.cause.lasts:
        start = explainer.start(arrival)
        if start is not None and start.after is not None:
            explanation = replace(explanation, ends=())  # `start` names them, with the time
    cost = None if explanation.waits else explainer.cost(arrival)
    return FitAnswer(request, namespace, queue, resource, explanation, cost, start)


def _last(job: Arrival, arrivals: Sequence[Arrival]) -> Arrival:
    """The job, created after all others."""
    workload = job.workload
    if workload is None:
        return job
    last = max((it.workload.created for it in arrivals if it.workload), default=0.0)
    return replace(job, workload=dataclasses.replace(workload, created=max(last, 0.0) + 1))


def _arrival(scene: Scene, request: FitRequest) -> tuple[str, str, str, Arrival]:
    """The namespace, the LocalQueue, the GPU resource and the job."""
    cluster = scene.cluster
    namespaces = [it for it in _namespaces(scene) if scene.team(it) == request.team]
    namespaces = namespaces or [it for it in _namespaces(scene) if it == request.team]
    if not namespaces:
        teams = ", ".join(sorted({scene.team(it) for it in _namespaces(scene)}))
        raise FitError(f"team {request.team} has no LocalQueue; teams with one: {teams or 'none'}")
    for namespace, queue, flavor, resource in _choices(cluster, namespaces, request):
        return namespace, queue, resource, _made(scene, request, namespace, queue, flavor, resource)
    has = sorted(
        {f"{name} in {flavor}" for _, _, flavor, name in _choices(cluster, namespaces, None)}
    )
    what = f"pool {request.pool}" if request.pool else "any pool"
    raise FitError(
        f"team {request.team} has no quota of {request.resource or 'GPUs'} in {what}; "
        f"it has {some(has, 'other') if has else 'no quota of GPUs at all'}"
    )


def _namespaces(scene: Scene) -> dict[str, None]:
    return dict.fromkeys(it.namespace for it in scene.cluster.local_queues)


def _choices(
    cluster: Cluster, namespaces: Sequence[str], request: FitRequest | None
) -> Iterator[tuple[str, str, str, str]]:
    """The namespace, LocalQueue, flavor and GPU resource that a request can mean."""
    for namespace in namespaces:
        for local in cluster.local_queues.by_namespace.get(namespace, ()):
            entry = cluster.cluster_queues.get(local.fields.cluster_queue)
            if entry is None:
                continue
            for flavor, resource in _gpus(entry.fields):
                if request is None or (
                    request.pool in ("", flavor, local.name) and request.resource in ("", resource)
                ):
                    yield namespace, local.name, flavor, resource


def _gpus(queue: ClusterQueueView) -> Iterator[tuple[str, str]]:
    """The flavors of a queue, each with its GPU resource."""
    for group in queue.resource_groups:
        for flavor in group.flavors:
            for it in flavor.resources:
                if accelerators.is_one(it.name):
                    yield flavor.name, it.name


def _made(  # noqa: PLR0913, PLR0917 - all that the choice consists of
    scene: Scene, request: FitRequest, namespace: str, queue: str, flavor: str, resource: str
) -> Arrival:
    cluster = scene.cluster
    amounts = {"cpu": request.cpu, "memory": request.memory, resource: Fraction(request.gpus)}
    requests = {name: amount for name, amount in amounts.items() if amount}
    spec = PodSpec(containers=(Container("main", "", Resources(requests, requests)),))
    fields = _fields(cluster, request, queue, spec)
    asked = AskedWorkload(f"{namespace}/{NAME}", "Job", fields)
    entry = cluster.flavors.get(flavor)
    if entry is not None and request.pool:
        if _selects(cluster, namespace, queue):
            labels = dict(entry.fields.node_labels)
            spec = PodSpec(containers=spec.containers, node_selector=labels)
        fields = _fields(cluster, request, queue, spec)
        asked = AskedWorkload(f"{namespace}/{NAME}", "Job", fields)
        for change in toward(asked, "main", entry.fields):
            spec = pod_spec(spec, change)
        fields = _fields(cluster, request, queue, spec)
        asked = AskedWorkload(f"{namespace}/{NAME}", "Job", fields)
    batch = PodBatch("main", request.pods, spec)
    team = scene.team(namespace)
    workload = asked.queued(scene.settings)
    return Arrival(asked.name, "Job", team, 0.0, None, workload, (batch,))


def _selects(cluster: Cluster, namespace: str, queue: str) -> bool:
    """Whether the queue has several flavors, so that the job must select one."""
    local = cluster.local_queues.get(queue, namespace)
    entry = cluster.cluster_queues.get(local.fields.cluster_queue) if local else None
    groups = entry.fields.resource_groups if entry else ()
    return any(len(it.flavors) > 1 for it in groups)


def _fields(cluster: Cluster, request: FitRequest, queue: str, spec: PodSpec) -> WorkloadView:
    value = 0
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
