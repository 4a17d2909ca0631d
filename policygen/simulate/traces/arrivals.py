"""The jobs of a trace as arrivals in a scene: in which namespace and queue, and with which pods.

A trace says less than a manifest. What is assumed about its jobs is in the notes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.names import GPU
from policygen.core.quoting import counted, listed, some
from policygen.core.suggest import Names, suggest
from policygen.kubernetes import accelerators, priorities
from policygen.kubernetes.core import TolerationView
from policygen.kubernetes.flavor_match import selects_flavor
from policygen.kubernetes.kueue import ClusterQueueView, LocalQueueView, ResourceFlavorView
from policygen.kubernetes.kueue_requests import adjusted
from policygen.kubernetes.kueue_workloads import PodSetTemplate, PodSetView, WorkloadView
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import Container, PodSpec, Resources
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.kueue.build import workload_of
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.openb import MODEL
from policygen.simulate.scene import Scene
from policygen.simulate.traces.job import TraceJob, TraceRequest
from policygen.spec.types import Pool

OTHERS = "*"
"""Stands for all teams of the trace that have no other entry."""
_KIND = "Job"
_NAMES = 5
"""The most names that a note shows."""
_TEAMS = 10
"""The most teams of the scene that a note shows."""


class TraceArrivals(Struct, frozen=True, eq=False):
    """The arrivals of a trace."""

    arrivals: list[Arrival]
    unknown: Mapping[str, int]
    """The number of jobs of each team that the scene does not know; they do not arrive."""
    notes: tuple[str, ...]
    """Assumptions about the jobs."""


def arrivals(
    scene: Scene, jobs: Iterable[TraceJob], teams: Mapping[str, str] | None = None
) -> TraceArrivals:
    """The jobs in the order of the trace. `teams` has the team of the scene for names of the trace."""
    making = _Making(scene, teams or {})
    found = [it for i, job in enumerate(jobs) for it in making.of_job(job, i)]
    return TraceArrivals(found, making.unknown, tuple(making.notes()))


class _Template(Struct, frozen=True, eq=False):
    """What all jobs of a team with equal requests have."""

    namespace: str
    team: str
    priority: int = 0
    preempts: bool = True
    pods: tuple[PodBatch, ...] = ()
    workload: QueuedWorkload | None = None
    refusal: str = ""


class _Making:
    """Makes the arrivals of one trace."""

    def __init__(self, scene: Scene, teams: Mapping[str, str]) -> None:
        self.unknown: Counter[str] = Counter()
        self._scene = scene
        self._cluster = scene.cluster
        self._teams = teams
        self._namespaces = _namespaces(scene)
        self._has_models = _has_models(scene)
        self._gpu = _gpu_of(name for node in scene.nodes for name in node.allocatable)
        self._templates: dict[tuple[str, str, TraceRequest], _Template | None] = {}
        self._ambiguous: dict[tuple[str, str, tuple[str, ...]], int] = {}
        self._foreign: Counter[tuple[str, str]] = Counter()
        """Jobs whose queue belongs to another team, by their team and queue."""
        self._partial = self._models = 0

    def of_job(self, job: TraceJob, index: int) -> Iterator[Arrival]:
        """The job, or each of its pods as a job if it is no gang."""
        key = job.team, job.queue, job.request
        if key not in self._templates:
            self._templates[key] = self._template(job)
        template = self._templates[key]
        if template is None:
            self.unknown[job.team or job.queue] += 1
            return
        request = job.request
        if job.team and "/" in job.queue and self._named(job.team) != template.team:
            self._foreign[job.team, job.queue] += 1
        self._partial += request.partial
        self._models += bool(request.models)
        pods = 1 if request.gang else request.pods
        for i in range(pods):
            name = f"{template.namespace}/{job.name}" + (f"-{i}" if pods > 1 else "")
            yield Arrival(
                name=name,
                kind=_KIND,
                team=template.team,
                at=job.at,
                duration=job.duration,
                workload=_workload(
                    template.workload,
                    name,
                    # With a slash, because Kueue orders jobs of one time by a UID, which no trace has.
                    f"trace/{index:09d}" if pods == 1 else f"trace/{index:09d}-{i}",
                    job.at,
                ),
                pods=template.pods,
                priority=template.priority,
                preempts=template.preempts,
                refusal=template.refusal,
            )

    def notes(self) -> Iterator[str]:
        """What was assumed."""
        if self._foreign:
            pairs = [f"{queue} in place of {team}" for team, queue in self._foreign]
            yield (
                f"{_jobs(self._foreign.total())} of the trace {'names' if self._foreign.total() == 1 else 'name'} "
                f"a team and a queue of another team; the team of the queue counts: {some(pairs, 'other pair')}"
            )
        yield from self._of_unknown()
        for (name, kind, names), gpus in self._ambiguous.items():
            choice = "queue" if kind == "queue" else "selector"
            yield (
                f"team {name} has several {kind}s for jobs with {counted(gpus, 'GPU')} in each pod "
                f"({', '.join(names)}); those without a {choice} in the trace go to {names[0]}"
            )
        if self._templates and self._cluster.queues.any:
            yield (
                "Volcano does not schedule the jobs of a trace: they use queues of Kueue, or without one "
                "kube-scheduler; to simulate queues of Volcano, add Volcano Jobs with --workloads"
            )
        if self._partial:
            yield f"{_jobs(self._partial)} used a part of a GPU; each gets a whole GPU"
        if self._models and not self._has_models:
            yield (
                f"the GPU models of {_jobs(self._models)} have no effect, because no flavor "
                f"and no node has the label {MODEL}"
            )

    def _of_unknown(self) -> Iterator[str]:
        """Which jobs have no team of the scene, and options that have no effect."""
        known, given = Names(self._names()), Names({team for team, *_ in self._templates} - {""})
        by_option: Counter[str] = Counter()
        unknown: Counter[str] = Counter()
        for name, jobs in self.unknown.items():
            option = name if name in self._teams else OTHERS
            if option in self._teams:
                by_option[option] += jobs
            else:
                unknown[name] = jobs
        for name, team in self._teams.items():
            if by_option[name]:
                yield (
                    f"--trace-team {name}={team}: the input has no team {team}, so {_jobs(by_option[name])} "
                    f"of the trace {_were(by_option[name])} not simulated; {suggest(team, known, 'team')}"
                )
            elif name != OTHERS and name not in given and self._templates:
                yield (
                    f"--trace-team {name}={team} has no effect, because the trace has no team {name}; "
                    f"{suggest(name, given, 'team')}"
                )
        if unnamed := unknown.pop("", 0):
            yield (
                f"the trace names no team for {_jobs(unnamed)}, which {_were(unnamed)} not simulated; add "
                f"--trace-team '*=TEAM' with {self._known()}"
            )
        if unknown:
            names = [
                f"{name} ({_jobs(n)}{f'; did you mean {meant}?' if (meant := known.meant(name)) else ''})"
                for name, n in unknown.most_common(_NAMES)
            ]
            more, total = len(unknown) - len(names), unknown.total()
            these = "this job" if total == 1 else "these jobs"
            yield (
                f"the input has no team or queue with the {'name' if len(unknown) == 1 else 'names'} "
                f"{listed([*names, *_more(more)], 'and')}, so {these} of the trace {_were(total)} not simulated; "
                f"write {self._known()} in the trace, or add --trace-team NAME=TEAM"
            )

    def _names(self) -> set[str]:
        """The teams of the spec, or of namespaces with a LocalQueue, or all."""
        queues = {self._scene.team(it.namespace) for it in self._cluster.local_queues}
        return {*self._scene.teams.values()} or queues or {*self._namespaces}

    def _known(self) -> str:
        """The names that a trace can use, in words."""
        names = sorted(self._names())
        shown = [*names[:_TEAMS], *_more(len(names) - _TEAMS)]
        if not names:
            return "the name of a team of a SPEC, or of a Namespace of --workloads (the input has neither)"
        return f"the name of a team ({listed(shown, 'or')})"

    def _template(self, job: TraceJob) -> _Template | None:
        """None: the scene does not know the team, or the namespace of the queue."""
        namespaces, team = self._where(job)
        if not namespaces:
            return None
        request = job.request
        found = _Template(namespaces[0], team)
        entry: Entry[LocalQueueView] | None = None
        pool = None
        if self._cluster.cluster_queues.any:
            fitting = self._queues(namespaces, job.queue.rpartition("/")[2], request)
            name = job.queue.rpartition("/")[2]
            if not fitting and name:  # Kueue waits for the queue, as for that of a manifest
                return self._filled(found, request, None, name)
            pool = None if fitting else self._pool(team, request)
            if not fitting and pool is None:
                words = self._no_queue(namespaces, team, job)
                return self._filled(replace(found, refusal=words), request, None)
            if fitting:
                entry = fitting[0]
                self._note_choice(team, "queue", [it.name for it in fitting], request)
                found = replace(found, namespace=entry.namespace)
        else:
            pool = self._pool(team, request)
        return self._filled(found, request, entry, pool=pool)

    def _note_choice(
        self, team: str, kind: str, names: Sequence[str], request: TraceRequest
    ) -> None:
        """Remember that the first one of several queues or pools was chosen."""
        if len(names) > 1:
            self._ambiguous.setdefault((team, kind, tuple(names)), request.gpus)

    def _pool(self, team: str, request: TraceRequest) -> Pool | None:
        """The first pool of kube-scheduler with a quota of the team that the selector of a job matches."""
        spec = self._scene.spec
        if spec is None or not request.gpus:
            return None
        names = {pool for name, pool, _ in self._scene.quotas.teams if name == team}
        found = [
            it
            for it in spec.pools
            if it.name in names
            and it.name in self._scene.schedulers
            and all(dict(it.node_selector).get(key, of) == of for key, of in request.selector)
        ]
        self._note_choice(team, "pool", [it.name for it in found], request)
        return found[0] if found else None

    def _no_queue(self, namespaces: Sequence[str], team: str, job: TraceJob) -> str:
        """Why no LocalQueue takes a job."""
        local = self._cluster.local_queues
        known = [it for namespace in namespaces for it in local.by_namespace.get(namespace, ())]
        if not known:
            return f"team {team} has no LocalQueue"
        queues = [it for it in map(self._queue, known) if it is not None]
        names = {
            flavor.name for queue in queues for it in queue.resource_groups for flavor in it.flavors
        }
        flavors = [it.fields for it in self._cluster.flavors if it.object.name in names]
        for key, value in job.request.selector:
            values = {it.node_labels[key] for it in flavors if key in it.node_labels}
            if value not in values and values:
                return f"no flavor of team {team} has label {key}={value}; {suggest(value, values)}"
        return f"no LocalQueue of team {team} has a quota of GPUs whose flavor matches its selector"

    def _where(self, job: TraceJob) -> tuple[Sequence[str], str]:
        """The namespaces of a job, and its team."""
        namespace, slash, queue = job.queue.rpartition("/")
        if slash:
            known = namespace in self._namespaces.get(self._scene.team(namespace), ())
            return ((namespace,) if known else ()), self._scene.team(namespace)
        if job.team or not queue:
            team = self._named(job.team)
            return self._namespaces.get(team, ()), team
        found = [it.namespace for it in self._cluster.local_queues if it.name == queue]
        return (found, self._scene.team(found[0])) if len(found) == 1 else ((), "")

    def _named(self, team: str) -> str:
        """The team of the scene for a name of the trace."""
        return self._teams.get(team) or self._teams.get(OTHERS) or team

    def _queues(
        self, namespaces: Sequence[str], name: str, request: TraceRequest
    ) -> list[Entry[LocalQueueView]]:
        """The LocalQueues of these namespaces with this name, or those that fit the request."""
        found = [
            it
            for namespace in namespaces
            for it in self._cluster.local_queues.by_namespace.get(namespace, ())
        ]
        if name:
            return [it for it in found if it.name == name]
        return [it for it in found if self._fits(self._queue(it), request)]

    def _queue(self, entry: Entry[LocalQueueView]) -> ClusterQueueView | None:
        queue = self._cluster.cluster_queues.get(entry.fields.cluster_queue)
        return queue.fields if queue is not None else None

    def _fits(self, queue: ClusterQueueView | None, request: TraceRequest) -> bool:
        """Whether a queue has a quota of GPUs, with a flavor that the selector matches."""
        return queue is not None and any(True for _ in self._flavors(queue, request))

    def _flavors(
        self, queue: ClusterQueueView, request: TraceRequest
    ) -> Iterator[Entry[ResourceFlavorView]]:
        """The flavors of a queue that a selector matches, for a job with GPUs those of GPUs."""
        selector = dict(request.selector)
        for group in queue.resource_groups:
            if not request.gpus or any(map(accelerators.is_one, group.covered_resources)):
                for it in group.flavors:
                    flavor = self._cluster.flavors.get(it.name)
                    if flavor and selects_flavor(selector, (), flavor.fields.node_labels):
                        yield flavor

    def _filled(
        self,
        template: _Template,
        request: TraceRequest,
        entry: Entry[LocalQueueView] | None,
        missing: str = "",
        pool: Pool | None = None,
    ) -> _Template:
        """The template with the pods of a request, and its Workload in a queue, or in a missing one.

        `pool` is one of kube-scheduler, whose nodes the pods select.
        """
        cluster, name = self._cluster, request.priority
        values = _priorities(self._scene, name)
        gpu = self._gpu
        queue = self._queue(entry) if entry is not None else None
        if queue is not None:
            covered = [one for it in queue.resource_groups for one in it.covered_resources]
            gpu = _gpu_of(covered) if any(map(accelerators.is_one, covered)) else gpu
        elif pool is not None:
            gpu = _gpu_of(name for _, of, name in self._scene.quotas.teams if of == pool.name)
        spec = self._spec(request, gpu)
        if queue is not None and request.gpus:
            spec = replace(spec, scheduler_name=self._scheduler(queue, request))
        elif pool is not None:
            spec = self._in_pool(spec, pool)
        count = request.pods if request.gang else 1
        pods = PodBatch("main", count, adjusted(cluster, spec, template.namespace))
        if values is None:
            known = (*cluster.workload_priority_classes.names(), *cluster.priority_classes.names())
            advice = suggest(name, known, "priority class")
            refusal = f"priority class {name} does not exist; {advice}"
            return replace(template, pods=(pods,), refusal=refusal)
        workload = None
        queue_name = entry.name if entry is not None else missing
        if queue_name:
            sets = (PodSetView("main", count, None, PodSetTemplate(spec)),)
            fields = WorkloadView(queue_name, values[0], sets)
            name = f"{template.namespace}/x"
            workload = workload_of(name, name, 0.0, fields, self._scene.settings)
        class_ = cluster.priority_classes.get(request.priority)
        # Of a number, only Kueue knows what it means: Kueue evicts for it, and kube-scheduler does not.
        preempts = not queue_name if class_ is None else class_.fields.preemption_policy != "Never"
        return replace(
            template, priority=values[1], preempts=preempts, pods=(pods,), workload=workload
        )

    def _scheduler(self, queue: ClusterQueueView, request: TraceRequest) -> str:
        """The schedulerName that the spec gives pods of the first pool of a queue that the selector matches."""
        pools = (it.name for it in self._flavors(queue, request))
        return next(
            (self._scene.schedulers[it] for it in pools if it in self._scene.schedulers), ""
        )

    def _in_pool(self, spec: PodSpec, pool: Pool) -> PodSpec:
        """A pod with the fields that a pool of kube-scheduler needs."""
        taints = (TolerationView(it.key, "Exists", effect=it.effect) for it in pool.taints)
        return replace(
            spec,
            scheduler_name=self._scene.schedulers[pool.name],
            node_selector={**dict(pool.node_selector), **spec.node_selector},
            tolerations=(*spec.tolerations, *taints),
        )

    def _spec(self, request: TraceRequest, gpu: str) -> PodSpec:
        """A pod. It tolerates the taint of GPUs, as the plugin ExtendedResourceToleration lets it."""
        requests = {
            name: amount
            for name, amount in (("cpu", request.cpu), ("memory", request.memory))
            if amount is not None
        }
        gpus = {gpu: Fraction(request.gpus)} if request.gpus else {}
        models = [{"key": MODEL, "operator": "In", "values": list(request.models)}]
        terms = {"nodeSelectorTerms": [{"matchExpressions": models}]}
        return PodSpec(
            containers=(Container("main", resources=Resources({**requests, **gpus}, gpus)),),
            node_selector=dict(request.selector),
            affinity={"nodeAffinity": {REQUIRED: terms}}
            if request.models and self._has_models
            else {},
            tolerations=(TolerationView(gpu, "Exists"),) if gpus else (),
            restart_policy="Never",
        )


def _workload(
    like: QueuedWorkload | None, name: str, uid: str, created: float
) -> QueuedWorkload | None:
    if like is None:
        return None
    made = QueuedWorkload(
        name, uid, like.queue, like.priority, created, like.pod_sets, like.refusal
    )
    made.equivalence = like.equivalence  # one object for all
    return made


def _namespaces(scene: Scene) -> Mapping[str, Sequence[str]]:
    """The namespaces of each team, those of a spec in its order."""
    known = [*scene.teams, *sorted(it.name for it in scene.cluster.namespaces)]
    known += sorted({it.namespace for it in scene.cluster.local_queues})
    found: dict[str, list[str]] = {}
    for namespace in dict.fromkeys(known):
        found.setdefault(scene.team(namespace), []).append(namespace)
    return found


def _has_models(scene: Scene) -> bool:
    return any(MODEL in it.labels for it in scene.nodes) or any(
        MODEL in it.fields.node_labels for it in scene.cluster.flavors
    )


def _gpu_of(resources: Iterable[str]) -> str:
    """The resource of whole GPUs among these."""
    found = {it for it in resources if accelerators.is_one(it)}
    return min(found, key=lambda it: ("mig-" in it, it != GPU, it), default=GPU)


def _priorities(scene: Scene, name: str) -> tuple[int, int] | None:
    """The priority for Kueue and for kube-scheduler; None if no class has the name."""
    if name.removeprefix("-").isdigit():
        return int(name), int(name)
    of_pods = priorities.of_class(scene.cluster, name)
    of_workloads = scene.cluster.workload_priority_classes.get(name)
    if of_workloads is not None:
        return of_workloads.fields.value, of_pods or 0
    return None if of_pods is None else (of_pods, of_pods)


def _jobs(number: int) -> str:
    return counted(number if number == 1 else f"{number:,}", "job")


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _more(number: int) -> list[str]:
    return [f"{number} more"] if number > 0 else []
