"""Whether a job that does not exist yet would run now, and if not, when and why not."""

import dataclasses
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.quoting import some
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.kueue_workloads import PodSetTemplate, PodSetView, WorkloadView
from policygen.kubernetes.schedulers import VOLCANO
from policygen.kubernetes.workloads import Container, PodSpec, Resources
from policygen.plan.pool import PoolFacts
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.kueue.amounts import counted, shown
from policygen.simulate.scene import Scene
from policygen.simulate.why.changes import pod_spec
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.quota_changes import toward
from policygen.simulate.why.remedy import Cost
from policygen.simulate.why.scene_changes import arrival_of, with_object
from policygen.simulate.why.situation import AskedWorkload
from policygen.simulate.why.start import Start
from policygen.simulate.why.team_queues import queue_leaves

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
    """The pool, flavor or queue; empty: the first one of the team in which the job runs now."""
    resource: str = ""
    """The name of the GPU resource; empty: the one of which the queue has a quota."""
    cpu: Fraction | None = None
    memory: Fraction | None = None
    priority: str = ""
    """A WorkloadPriorityClass; in a queue of Volcano, a PriorityClass."""


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
    of_volcano: bool = False
    """Whether the queue is one of Volcano, and not a LocalQueue."""


class _Choice(Struct, frozen=True):
    """A queue that a request can mean."""

    namespace: str
    queue: str
    resource: str
    pool: str
    """The flavor, or the pool of Volcano; empty: a queue of Volcano whose pool is not known."""
    of_volcano: bool = False


def fit(scene: Scene, arrivals: Sequence[Arrival], request: FitRequest) -> FitAnswer:
    """Whether the job would run now. Raises FitError.

    Of several queues that the request can mean, the answer is about the first one in which the job runs
    now, or else waits.
    """
    explainer = Explainer(scene, arrivals)
    first, *others = _chosen(scene, request)
    found = _judged(explainer, request, first)
    for choice in others:
        if not found.explanation.waits:
            break
        one = _judged(explainer, request, choice)
        if one.rank < found.rank:
            found = one
    return _answer(found, request)


class _JudgedQueue(Struct, frozen=True, eq=False):
    """A queue that was tried, without a search for changes."""

    choice: _Choice
    explainer: Explainer
    arrival: Arrival
    explanation: Explanation

    @property
    def rank(self) -> int:
        """Lower is better: the job runs now, waits, or never starts."""
        return 2 if self.explanation.cause.lasts else int(self.explanation.waits)


def _judged(explainer: Explainer, request: FitRequest, choice: _Choice) -> _JudgedQueue:
    """The cause in one queue."""
    scene, arrivals = explainer.scene, explainer.arrivals
    if choice.of_volcano:
        scene = with_object(scene, _volcano_job(scene, request, choice))
        explainer = Explainer(scene, arrivals)
        arrival = arrival_of(scene, (VOLCANO_BATCH, "Job", choice.namespace, NAME))
    else:
        arrival = _last(_made(scene, request, choice), arrivals)
    if arrival is None:
        raise FitError(f"the job cannot be created in namespace {choice.namespace}")
    return _JudgedQueue(choice, explainer, arrival, explainer.explain(arrival, search=False))


def _answer(judged: _JudgedQueue, request: FitRequest) -> FitAnswer:
    """The answer for the chosen queue, with changes if the job waits."""
    choice, explainer, arrival = judged.choice, judged.explainer, judged.arrival
    explanation, start, cost = judged.explanation, None, None
    if explanation.waits:
        explanation = explainer.explain(arrival)
        if not explanation.cause.lasts:
            start = explainer.start(arrival)
        if start is not None and start.after is not None:
            explanation = replace(explanation, ends=())  # `start` names them, with the time
    else:
        cost = explainer.cost(arrival)
    return FitAnswer(
        request,
        choice.namespace,
        choice.queue,
        choice.resource,
        explanation,
        cost,
        start,
        choice.of_volcano,
    )


def _last(job: Arrival, arrivals: Sequence[Arrival]) -> Arrival:
    """The job, created after all others."""
    workload = job.workload
    if workload is None:
        return job
    last = max((it.workload.created for it in arrivals if it.workload), default=0.0)
    return replace(job, workload=dataclasses.replace(workload, created=max(last, 0.0) + 1))


def _chosen(scene: Scene, request: FitRequest) -> list[_Choice]:
    """The queues that a request can mean."""
    known = dict.fromkeys((*_namespaces(scene), *_volcano_namespaces(scene)))
    namespaces = [it for it in known if scene.team(it) == request.team]
    namespaces = namespaces or [it for it in known if it == request.team]
    if not namespaces:
        teams = ", ".join(sorted({scene.team(it) for it in known}))
        raise FitError(
            f"team {request.team} has no LocalQueue and no queue of Volcano; "
            f"teams with one: {teams or 'none'}"
        )
    every = [*_choices(scene.cluster, namespaces), *_volcano_choices(scene, namespaces)]
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
    teams = {team for _, team, _ in _queues_of_spec(scene)}
    return [it for it, team in scene.teams.items() if team in teams]


def _queues_of_spec(scene: Scene) -> Iterator[tuple[str, str, PoolFacts]]:
    """The queues of Volcano that a spec renders for jobs: name, team and pool."""
    for tree, leaf in queue_leaves(scene.spec) if scene.spec is not None else ():
        yield tree.name_of(leaf), leaf.team.name, tree.pools[0]


def _choices(cluster: Cluster, namespaces: Sequence[str]) -> Iterator[_Choice]:
    """The LocalQueues of namespaces, with their flavors and GPU resources."""
    for namespace in namespaces:
        for local in cluster.local_queues.by_namespace.get(namespace, ()):
            entry = cluster.cluster_queues.get(local.fields.cluster_queue)
            for flavor, resource in _gpus(entry.fields) if entry is not None else ():
                yield _Choice(namespace, local.name, resource, flavor)


def _volcano_choices(scene: Scene, namespaces: Sequence[str]) -> Iterator[_Choice]:
    """The queues of Volcano of namespaces: those of the spec, or that have an amount of GPUs."""
    if scene.spec is not None:
        for name, team, pool in _queues_of_spec(scene):
            for namespace in (it for it in namespaces if scene.team(it) == team):
                for resource in pool.resources:
                    yield _Choice(namespace, name, resource, pool.name, of_volcano=True)
        return
    parents = {it.fields.parent for it in scene.cluster.queues}
    for entry in scene.cluster.queues:
        amounts = {**entry.fields.deserved, **entry.fields.capability}
        for resource in filter(accelerators.is_one, amounts):
            if entry.name not in parents:
                yield _Choice(namespaces[0], entry.name, resource, "", of_volcano=True)


def _volcano_job(scene: Scene, request: FitRequest, choice: _Choice) -> dict[str, Any]:
    """A Job of Volcano as the team would write it."""
    amounts = {"cpu": request.cpu, "memory": request.memory}
    written = {name: shown(name, counted(name, it)) for name, it in amounts.items() if it}
    written[choice.resource] = str(request.gpus)
    pods: dict[str, Any] = {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "resources": {"requests": written, "limits": written}}],
    }
    pool = next((it for _, _, it in _queues_of_spec(scene) if it.name == choice.pool), None)
    if pool is not None:
        pods["nodeSelector"] = dict(pool.pool.node_selector)
        pods["tolerations"] = [
            {"key": it.key, "operator": "Exists", "effect": it.effect} for it in pool.pool.taints
        ]
    spec: dict[str, Any] = {
        "schedulerName": VOLCANO,
        "queue": choice.queue,
        "minAvailable": request.pods,
        "tasks": [{"name": "main", "replicas": request.pods, "template": {"spec": pods}}],
    }
    if request.priority:
        classes = scene.cluster.priority_classes
        if request.priority not in classes.names():
            names = ", ".join(it.name for it in classes)
            raise FitError(
                f"PriorityClass {request.priority} does not exist; it can be: {names or 'none'}"
            )
        spec["priorityClassName"] = request.priority
    metadata = {"name": NAME, "namespace": choice.namespace}
    return {
        "apiVersion": f"{VOLCANO_BATCH}/v1alpha1",
        "kind": "Job",
        "metadata": metadata,
        "spec": spec,
    }


def _gpus(queue: ClusterQueueView) -> Iterator[tuple[str, str]]:
    """The flavors of a queue, each with its GPU resource."""
    for group in queue.resource_groups:
        for flavor in group.flavors:
            for it in flavor.resources:
                if accelerators.is_one(it.name):
                    yield flavor.name, it.name


def _made(scene: Scene, request: FitRequest, choice: _Choice) -> Arrival:
    """A Job for Kueue."""
    namespace, queue, flavor, resource = (
        choice.namespace, choice.queue, choice.pool, choice.resource,
    )  # fmt: skip
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
