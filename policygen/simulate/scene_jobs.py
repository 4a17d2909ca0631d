"""The jobs of a scene: those that wait or arrive, and those that run from the start.

Kueue's Workloads come first, since they say what Kueue decided. Then come objects for which Kueue will create
Workloads, and at last pods that Kueue does not manage.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from msgspec.structs import replace

from policygen.core import durations, quantity
from policygen.core.finding import at_path
from policygen.core.names import HOSTNAME
from policygen.core.suggest import suggest
from policygen.kubernetes import priorities
from policygen.kubernetes.cluster import KUEUE, VOLCANO_BATCH, Cluster
from policygen.kubernetes.conditions import condition, created, holds, moment
from policygen.kubernetes.core import LabelSelector
from policygen.kubernetes.kueue_jobs import ELASTIC, EQUAL_COMPLETIONS
from policygen.kubernetes.kueue_requests import adjusted, as_pod
from policygen.kubernetes.kueue_workloads import (
    PodSetTemplate,
    PodSetView,
    WorkloadView,
    assigned_domains,
)
from policygen.kubernetes.object import Object
from policygen.kubernetes.pod_terms import selector_of
from policygen.kubernetes.schedulers import VOLCANO, meant_scheduler
from policygen.kubernetes.snapshot import Pod
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import integer, keyed_texts, mapping, mappings, text, texts
from policygen.kubernetes.workloads import Workload
from policygen.simulate.arrival import Arrival, GangSettings, PodBatch
from policygen.simulate.input_faults import ARRIVES_AFTER, RUNS_FOR
from policygen.simulate.kueue.amounts import counted, evaluation_order
from policygen.simulate.kueue.build import pairs_of, workload_of
from policygen.simulate.kueue.jobs import QueuedJob, UnqueuedJob, jobs
from policygen.simulate.kueue.pod_sets import asks_topology
from policygen.simulate.kueue.scheduler import PODS_READY_TIMEOUT, READY
from policygen.simulate.kueue.topology import TopologyPlacement
from policygen.simulate.kueue.workload import (
    Admission,
    PodSet,
    PodSetAdmission,
    QueuedWorkload,
)
from policygen.simulate.model_objects import MODEL
from policygen.simulate.scene import Scene, implied_names, names_other_nodes
from policygen.simulate.volcano.gangs import gang_of, gang_of_group, group_name

_NAMED_NODES = "its pods name a node, and a spec does not have the names of nodes; pass a snapshot or manifests of nodes"
_ROLE = "volcano.sh/task-spec"
"""The key by which pods of Volcano name their task."""
_SERVES = frozenset(
    {
        "DaemonSet", "Deployment", "LeaderWorkerSet", "RayCluster", "RayService", "ReplicaSet",
        "ReplicationController", "Rollout", "StatefulSet",
    }
)  # fmt: skip
"""Kinds whose pods run until they are deleted."""

_BACKOFF_LIMIT = 6
"""The default of a Job."""

NO_REQUESTS = "Workloads whose requests are not known, because their owner was not read"


def arrivals(scene: Scene, default_duration: float | None = None) -> list[Arrival]:
    """The jobs of a scene that wait, arrive or run, in the order of their arrival.

    `default_duration` is how long a job runs that does not say it; running jobs run so long from now on.
    None: until the simulation ends.
    """
    found = sorted(_Jobs(scene, default_duration).all(), key=lambda it: it.at)
    named = Counter(it.name for it in found)
    return [
        it if named[it.name] == 1 else replace(it, name=f"{it.name} ({it.kind})") for it in found
    ]


class _Jobs:
    """Reads the jobs of a scene."""

    def __init__(self, scene: Scene, default_duration: float | None) -> None:
        self.scene = scene
        self.cluster: Cluster = scene.cluster
        self.default_duration = default_duration
        self.now = scene.cluster.seen.taken if scene.cluster.seen else None
        self.parents = _parents(scene.cluster)
        self.pods = self._by_root()
        """The pods of a snapshot by the object that created them."""
        self.by_name = {(it.namespace, it.name): it for pods in self.pods.values() for it in pods}
        self.of_object = {_key(it.object): it for it in scene.cluster.workloads}
        self.pairs = pairs_of(scene.cluster)
        self.levels = scene.topology_levels()
        self.implied = implied_names(scene)

    def all(self) -> Iterator[Arrival]:
        """All jobs."""
        queued, unqueued = jobs(self.cluster, self.scene.settings)
        by_owner: dict[tuple[str, str, str], list[QueuedJob]] = {}
        for it in queued:
            by_owner.setdefault(_key(it.owner), []).append(it)
        known: set[tuple[str, str, str]] = set()
        for entry in self.cluster.kueue_workloads:
            owner = self._owner(entry)
            if owner is not None:
                known.add(owner)
            if not holds(entry.object, "Finished"):
                yield self._of_workload(entry, owner, by_owner.get(owner, []) if owner else [])
        for owner, them in by_owner.items():
            if owner not in known and owner not in self.pods:
                for i, it in enumerate(them):
                    yield self._of_job(it, i, len(them))
        mine = (it for it in unqueued if not self._is_known(it.owner, known))
        yield from self._all_unqueued(mine)
        yield from self._other_pods(known)

    def _is_known(self, owner: Object, known: Container[tuple[str, str, str]]) -> bool:
        """Whether a Workload, pods or another object stand for an object."""
        key = _key(owner)
        return key in known or key in self.pods or _is_owned(owner)

    def _all_unqueued(self, unqueued: Iterable[UnqueuedJob]) -> Iterator[Arrival]:
        """Objects without a Workload. Those that join one PodGroup of Volcano are one job."""
        groups: dict[tuple[str, str], list[Workload]] = {}
        for job in unqueued:
            source = self.of_object.get(_key(job.owner))
            group = group_name(source) if source is not None and _by_volcano(source) else ""
            if source is not None and group:
                groups.setdefault((source.namespace, group), []).append(source)
            else:
                yield self._unqueued(job)
        for (namespace, name), sources in groups.items():
            yield self._of_group(namespace, name, sources)

    def _of_workload(
        self, entry: Entry[WorkloadView], owner: tuple[str, str, str] | None, made: list[QueuedJob]
    ) -> Arrival:
        """A Workload of the input."""
        object_ = entry.object
        at = self._time(created(object_))
        pods = self._owned_pods(owner)
        fields = entry.fields
        templates = made[0].fields.pod_sets if made else ()
        by_name = {it.name: it for it in templates}
        sets = tuple(_with_template(it, by_name.get(it.name)) for it in fields.pod_sets)
        if pods and not any(it.template.spec.containers for it in sets) and len(sets) == 1:
            sets = (replace(sets[0], template=PodSetTemplate(pods[0].spec)),)
        name = f"{entry.namespace}/{entry.name}"
        uid = text(object_.data, "metadata", "uid") or name
        workload = workload_of(name, uid, at, replace(fields, pod_sets=sets), self.scene.settings)
        unknown: tuple[str, ...] = ()
        if not any(it.template.spec.containers for it in sets):
            workload = _with_sets(workload, _counted_sets(object_, fields))
            if not any(it.requests for it in workload.pod_sets):
                unknown = (NO_REQUESTS,)
        workload.admission = self._admission(object_, workload.pod_sets)
        workload.ready = holds(object_, "PodsReady")
        if workload.admission is not None and not holds(object_, "Admitted"):
            workload.pending_checks = frozenset(_pending_checks(object_))
        self._add_past(workload, object_)
        condition_ = condition(object_, "QuotaReserved")
        if condition_ is not None and not condition_.holds:
            workload.reason, workload.message = condition_.reason, condition_.message
        kind, shown = (owner[0], f"{owner[1]}/{owner[2]}") if owner else ("Workload", name)
        source = self.of_object.get(owner) if owner else None
        labels = source.templates[0].labels if source and source.templates else {}
        return self._arrival(
            shown,
            object_ if source is None else source.object,
            workload,
            tuple(self._batch(it, entry.namespace, labels) for it in sets),
            kind=kind,
            at=at,
            nodes=_nodes(pods) if workload.admission is not None else (),
            created=len(self._existing_pods(owner)),
            refusal="" if fields.active else "the Workload is not active (spec.active is false)",
            unscheduled="" if source is None else _misspelt(self.cluster, source),
            unmodelled=(*_features(fields), *_volumes(source), *unknown),
        )

    def _add_past(self, workload: QueuedWorkload, object_: Object) -> None:
        """How long a Workload ran before, and until when Kueue does not try it again."""
        status = mapping(object_.data, "status")
        names = "accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds"
        workload.executed = float(next(filter(None, (integer(status.get(it)) for it in names)), 0))
        state = mapping(status, "requeueState")
        workload.requeues = integer(state.get("count")) or 0
        at = moment(state.get("requeueAt"))
        if workload.admission is None and at is not None and self._time(at) > 0:
            workload.retry_at = self._time(at)
            workload.hold = PODS_READY_TIMEOUT

    def _of_job(self, job: QueuedJob, index: int, count: int) -> Arrival:
        """A Workload that Kueue will create."""
        owner = job.owner
        at = self._arrives(owner)
        name = f"{job.namespace or 'default'}/{owner.name or text(owner.data, 'metadata', 'generateName')}"
        order = f"{owner.at.document:06d}/{index:06d}"
        workload = workload_of(
            f"{job.namespace}/{job.name}", f"{order}/{name}", at, job.fields, self.scene.settings
        )
        source = self.of_object.get(_key(owner))
        templates = source.templates if source is not None else ()
        batches = []
        for i, it in enumerate(job.fields.pod_sets):
            same = len(templates) == len(job.fields.pod_sets)
            labels = templates[i if same else 0].labels if templates else {}
            batches.append(self._batch(it, job.namespace, labels, _controller(source)))
        shown = name if count == 1 else f"{name}-{index}"
        return self._arrival(
            shown,
            owner,
            workload,
            tuple(batches),
            kind=owner.kind,
            at=at,
            unscheduled="" if source is None else _misspelt(self.cluster, source),
            unmodelled=(*_features(job.fields), *_volumes(source)),
        )

    def _unqueued(self, job: UnqueuedJob) -> Arrival:
        """An object without a Workload: its pods start at once, or it cannot be simulated."""
        owner = job.owner
        name = f"{owner.namespace or 'default'}/{owner.name}"
        source = self.of_object.get(_key(owner))
        gang = gang_of(self.cluster, source) if source is not None and _by_volcano(source) else None
        templates = source.templates if source is not None else ()
        names = [str(i) for i in range(len(templates))] if len(templates) > 1 else ["main"]
        if gang is not None and len(templates) > 1:
            names = [it.role or name for it, name in zip(gang.tasks, names, strict=True)]
        batches = tuple(
            self._batch(
                PodSetView(name, it.replicas or 0, None, PodSetTemplate(as_pod(it.spec))),
                owner.namespace,
                it.labels,
                _controller(source),
            )
            for name, it in zip(names, templates, strict=False)
        )
        unscheduled = "" if source is None else _misspelt(self.cluster, source)
        refusal = "" if job.starts and batches else job.reason
        if source is not None and (_by_volcano(source) or unscheduled):
            refusal = ""
        return self._arrival(
            name,
            owner,
            None,
            batches,
            kind=owner.kind,
            at=self._arrives(owner),
            refusal=refusal,
            unknown=job.unknown and gang is None and not unscheduled,
            unscheduled=unscheduled,
            gang=gang,
            unmodelled=tuple(_volumes(source)),
            asks_topology=source is not None
            and any(asks_topology(it.annotations) for it in source.templates),
        )

    def _of_group(self, namespace: str, name: str, sources: Sequence[Workload]) -> Arrival:
        """A PodGroup of Volcano, with the pods of all objects that join it."""
        entry = self.cluster.pod_groups.get(name, namespace)
        templates = [(source, it) for source in sources for it in source.templates]
        batches = tuple(
            self._batch(
                PodSetView(f"{i}", it.replicas or 0, None, PodSetTemplate(as_pod(it.spec))),
                namespace,
                it.labels,
            )
            for i, (_, it) in enumerate(templates)
        )
        first = sources[0].object
        gang = None
        if entry is not None:
            gang = gang_of_group(self.cluster, entry, (it for _, it in templates))
        known = self.cluster.pod_groups.names(namespace)
        return self._arrival(
            f"{namespace}/{name}",
            first,
            None,
            batches,
            kind="PodGroup",
            at=max(self._arrives(it.object) for it in sources),
            refusal=""
            if gang
            else f"PodGroup {name} does not exist; {suggest(name, known, 'PodGroup')}",
            gang=gang,
        )

    def _other_pods(self, known: set[tuple[str, str, str]]) -> Iterator[Arrival]:
        """Pods of a snapshot that no Workload admits, by the object that created them."""
        for (kind, namespace, name), pods in self.pods.items():
            if (kind, namespace, name) in known:
                continue
            others = [it for it in pods if ("Pod", it.namespace, it.name) not in known]
            placed = [it for it in others if it.node]
            waiting = (it for it in others if not it.node)
            found = [*placed, *(it for it in waiting if not it.gates or _gates(it.gates))]
            if not found:
                continue
            source = self.of_object.get((kind, namespace, name))
            if source is not None and source.object.group == VOLCANO_BATCH:
                yield self._running_gang(source, found)
                continue
            yield self._arrival(
                f"{namespace}/{name}",
                source.object if source is not None else found[0].object,
                None,
                tuple(_equal_pods(found, source)),
                kind=kind,
                at=min(self._time(it.created) for it in found),
                nodes=_nodes(placed),
                created=len(found),
                unmodelled=("PodGroups of Volcano in a snapshot",)
                if any(it.spec.scheduler_name == VOLCANO for it in found)
                else (),
                asks_topology=any(asks_topology(it.annotations) for it in found),
            )

    def _running_gang(self, source: Workload, pods: Sequence[Pod]) -> Arrival:
        """A Job of Volcano with its pods."""
        left = [*pods]
        nodes: list[str] = []
        batches = []
        gang = gang_of(self.cluster, source)
        roles = [it.role for it in gang.tasks] if gang is not None else []
        for role, it in zip(roles, source.templates, strict=False):
            own = [pod for pod in left if pod.labels.get(_ROLE, pod.annotations.get(_ROLE)) == role]
            count = it.replicas or 0
            own = sorted(own or left, key=lambda pod: not pod.node)[:count]
            left = [pod for pod in left if pod not in own]
            nodes += [pod.node for pod in own] + [""] * (count - len(own))
            view = PodSetView(role, count, None, PodSetTemplate(as_pod(it.spec)))
            batches.append(self._batch(view, source.namespace, it.labels))
        return self._arrival(
            f"{source.namespace}/{source.name}",
            source.object,
            None,
            tuple(batches),
            kind=source.kind,
            at=min(self._time(it.created) for it in pods),
            nodes=tuple(nodes),
            gang=gang,
        )

    def _batch(
        self,
        pod_set: PodSetView,
        namespace: str,
        labels: Mapping[str, str],
        selector: LabelSelector | None = None,
    ) -> PodBatch:
        spec = adjusted(self.cluster, pod_set.template.spec, namespace)
        gates = _gates(text(it, "name") for it in spec.scheduling_gates)
        return PodBatch(pod_set.name, pod_set.count, spec, labels, selector, gates)

    def _arrival(  # noqa: PLR0913 - all that is known of a job
        self,
        name: str,
        source: Object,
        workload: QueuedWorkload | None,
        pods: tuple[PodBatch, ...],
        *,
        kind: str,
        at: float,
        nodes: tuple[str, ...] = (),
        created: int = 0,
        refusal: str = "",
        unknown: bool = False,
        unscheduled: str = "",
        gang: GangSettings | None = None,
        unmodelled: tuple[str, ...] = (),
        asks_topology: bool = False,
    ) -> Arrival:
        classes = [it.spec.priority_class_name for it in pods]
        priority = priorities.of_class(self.cluster, classes[0] if classes else "")
        class_ = self.cluster.priority_classes.get(classes[0]) if classes else None
        duration = self._duration(source, kind, pods)
        if not refusal and any(names_other_nodes(self.implied, it.spec) for it in pods):
            refusal, unknown = _NAMED_NODES, True
        return Arrival(
            name=name,
            kind=kind,
            team=self.scene.team(name.partition("/")[0]),
            at=at,
            duration=duration,
            workload=workload,
            pods=pods,
            priority=priority or 0,
            preempts=class_ is None or class_.fields.preemption_policy != "Never",
            nodes=nodes,
            created=created,
            refusal=refusal,
            unknown=unknown,
            unscheduled="" if any(nodes) else unscheduled,
            gang=gang,
            retries=_retries(source, kind),
            unmodelled=unmodelled,
            completions=_completions(source),
            elastic=source.annotations.get(ELASTIC) == "true",
            model=source.labels.get(MODEL, ""),
            asks_topology=asks_topology,
            assumed=duration is not None and _time_of(source, RUNS_FOR) is None,
        )

    def _duration(self, source: Object, kind: str, pods: Sequence[PodBatch]) -> float | None:
        written = _time_of(source, RUNS_FOR)
        if written is not None:
            return written
        always = kind == "Pod" and any(it.spec.restart_policy in ("", "Always") for it in pods)
        return None if kind in _SERVES or always else self.default_duration

    def _arrives(self, object_: Object) -> float:
        """When an object is created; without an annotation at the start."""
        written = _time_of(object_, ARRIVES_AFTER)
        if written is not None:
            return written
        return min(self._time(created(object_)), 0.0)

    def _time(self, at: datetime | None) -> float:
        return (at - self.now).total_seconds() if at is not None and self.now is not None else 0.0

    def _admission(self, workload: Object, pod_sets: Iterable[PodSet]) -> Admission | None:
        """The quota that a Workload of a cluster holds; None: none, or its queue is not known."""
        data = mapping(workload.data, "status", "admission")
        queue = text(workload.data, "spec", "queueName")
        local = self.cluster.local_queues.get(queue, workload.namespace)
        target = local.fields.cluster_queue if local is not None else ""
        if not data or not self.cluster.cluster_queues.get(target):
            return None
        usage: dict[int, int] = {}
        sets = []
        of_name = {it.name: it for it in pod_sets}
        for it in mappings(data, "podSetAssignments"):
            name, flavors = text(it, "name"), dict(keyed_texts(it, "flavors"))
            pod_set = of_name.get(name, PodSet(name, 0, ()))
            count = integer(it.get("count"))
            placement = self._placement(mapping(it, "topologyAssignment"), flavors, pod_set)
            sets.append(
                PodSetAdmission(name, pod_set.count if count is None else count, flavors, placement)
            )
            for resource, amount in _amounts(it, "resourceUsage").items():
                pair = self.pairs.get((flavors.get(resource, ""), resource))
                if pair is not None:
                    usage[pair] = usage.get(pair, 0) + amount
        reserved = condition(workload, "QuotaReserved")
        at = self._time(reserved.since if reserved is not None else created(workload))
        return Admission(tuple(sets), tuple(usage.items()), frozenset(usage), at)

    def _placement(
        self, assignment: Mapping[str, object], flavors: Mapping[str, str], pod_set: PodSet
    ) -> TopologyPlacement | None:
        """The domains of an admitted pod set; None: none, or those of another Topology."""
        levels = texts(assignment, "levels")
        for flavor in sorted({*flavors.values()} & self.levels.keys() if levels else ()):
            by_host = levels[-1] == HOSTNAME
            known = self.levels[flavor]
            if known[-1:] == levels[-1:] and (by_host or known == levels):
                pods: Counter[str | tuple[str, ...]] = Counter()
                for values, count in assigned_domains(assignment):
                    if len(values) == len(levels):
                        pods[values[-1] if by_host else values] += count
                return TopologyPlacement(flavor, pods, dict(pod_set.per_pod))
        return None

    def _owner(self, entry: Entry[WorkloadView]) -> tuple[str, str, str] | None:
        """Kind, namespace and name of the object for which a Workload was created."""
        for it in mappings(entry.object.data, "metadata", "ownerReferences"):
            return text(it, "kind"), entry.namespace, text(it, "name")
        return None

    def _owned_pods(self, owner: tuple[str, str, str] | None) -> list[Pod]:
        """The pods of the object for which a Workload was created."""
        if owner is None:
            return []
        existing = self._existing_pods(owner)
        return existing if owner[0] == "Pod" else [it for it in existing if it.node]

    def _existing_pods(self, owner: tuple[str, str, str] | None) -> list[Pod]:
        """These pods, also without a node."""
        if owner is None:
            return []
        if owner[0] == "Pod":
            pod = self.by_name.get(owner[1:])
            return [pod] if pod is not None else []
        return self.pods.get(owner, [])

    def _by_root(self) -> dict[tuple[str, str, str], list[Pod]]:
        found: dict[tuple[str, str, str], list[Pod]] = {}
        for pod in self.cluster.pods:
            if pod.done:
                continue
            key = ("Pod", pod.namespace, pod.name)
            if pod.owner is not None:
                key = (pod.owner.kind, pod.namespace, pod.owner.name)
                if pod.owner.kind == "Node":  # a static pod
                    key = ("Pod", pod.namespace, pod.name)
            while key in self.parents:
                key = self.parents[key]
            found.setdefault(key, []).append(pod)
        return found


def _gates(names: Iterable[str]) -> tuple[str, ...]:
    """The scheduling gates that Kueue does not remove."""
    return tuple(sorted(it for it in names if not it.startswith(f"{KUEUE}/")))


def _volumes(source: Workload | None) -> Iterator[str]:
    """Whether volumes can keep the pods of an object from nodes."""
    if source is None:
        return
    paths = (it.at.path[len(source.at.path) :] for it in source.templates)
    specs = (mapping(at_path(source.object.data, it), "spec") for it in paths)
    volumes = (it for spec in specs for it in mappings(spec, "volumes"))
    if any(it.get("persistentVolumeClaim") or it.get("ephemeral") for it in volumes):
        yield "volumes that restrict the nodes of pods"


def _with_template(pod_set: PodSetView, made: PodSetView | None) -> PodSetView:
    """The pod set of a Workload with the template of its owner, which snapshots only have there."""
    if made is None:
        return pod_set
    request = pod_set.topology_request or made.topology_request
    return replace(pod_set, template=made.template, topology_request=request)


def _pending_checks(workload: Object) -> Iterator[str]:
    """The admission checks of a Workload that are not ready."""
    for it in mappings(workload.data, "status", "admissionChecks"):
        if it.get("state") != READY:
            yield text(it, "name")


def _features(fields: WorkloadView) -> Iterator[str]:
    """What a Workload asks for and this simulation does not know."""
    requests = [it.topology_request for it in fields.pod_sets if it.topology_request is not None]
    if any(it.podset_slice_required_topology_constraints for it in requests):
        yield "slices of several topology levels of Kueue"
    if any(it.pod_set_group_name for it in requests):
        yield "groups of pod sets in one topology domain of Kueue"


def _with_sets(workload: QueuedWorkload, sets: tuple[PodSet, ...]) -> QueuedWorkload:
    """The same workload with other pod sets."""
    return QueuedWorkload(
        workload.name,
        workload.uid,
        workload.queue,
        workload.priority,
        workload.created,
        sets,
        workload.refusal,
    )


def _counted_sets(workload: Object, fields: WorkloadView) -> tuple[PodSet, ...]:
    """The pod sets of a Workload without templates, from its status. Their shape is not known."""
    requests = {
        text(it, "name"): _amounts(it, field)
        for way, field in (
            (("status", "resourceRequests"), "resources"),
            (("status", "admission", "podSetAssignments"), "resourceUsage"),
        )
        for it in mappings(workload.data, *way)
    }
    found = []
    for it in fields.pod_sets:
        amounts = requests.get(it.name, {})
        each = {name: -(-amount // max(it.count, 1)) for name, amount in amounts.items()}
        ordered = tuple(sorted(each.items(), key=lambda one: evaluation_order(one[0])))
        found.append(PodSet(it.name, it.count, ordered, per_pod=ordered))
    return tuple(found)


def _amounts(data: Mapping[str, object], field: str) -> dict[str, int]:
    """Amounts of resources in Kueue's units; those that cannot be read are skipped."""
    found = {}
    for name, amount in mapping(data, field).items():
        try:
            found[name] = counted(name, quantity.parse(amount).value)
        except ValueError:
            continue
    return found


def _equal_pods(pods: Sequence[Pod], source: Workload | None) -> Iterator[PodBatch]:
    """Pods in batches of neighbors with an equal spec.

    A snapshot has only some labels of a pod. The template of its owner has the others.
    """
    templates = source.templates if source is not None else ()
    labels = templates[0].labels if len(templates) == 1 else {}
    for _, equal in groupby(pods, key=_likeness):
        them = list(equal)
        name = "main" if len(them) == len(pods) else them[0].name
        pod = them[0]
        pod_gates = () if pod.node else _gates(pod.gates)
        yield PodBatch(name, len(them), pod.spec, {**labels, **pod.labels}, None, pod_gates)


def _likeness(pod: Pod) -> tuple[object, ...]:
    return id(pod.spec), sorted(pod.labels.items()), pod.gates


def _nodes(pods: Iterable[Pod]) -> tuple[str, ...]:
    return tuple(it.node for it in pods if it.node)


def _completions(source: Object) -> int | None:
    """How many pods of a Job must end; None: it is another object, or Kueue changes the number.

    Source: syncCompletionWithParallelism in pkg/controller/jobs/job of Kueue 0.19.2.
    """
    if (source.group, source.kind) != ("batch", "Job"):
        return None
    if source.annotations.get(EQUAL_COMPLETIONS, "").lower() == "true":
        return None
    return integer(mapping(source.data, "spec").get("completions"))


def _time_of(object_: Object, annotation: str) -> float | None:
    """The seconds in an annotation; None: it has none. `input_faults` reports invalid ones."""
    found = durations.written(object_.annotations.get(annotation))
    return float(found) if found is not None and found >= 0 else None


def _by_volcano(workload: Workload) -> bool:
    return any(workload.scheduler_name(it) == VOLCANO for it in workload.templates)


def _retries(source: Object, kind: str) -> int | None:
    """The backoffLimit of a Job; a Pod has no controller. Source: pkg/apis/batch/v1/defaults.go."""
    if kind != "Job":
        return 0 if kind == "Pod" else None
    limit = integer(mapping(source.data, "spec").get("backoffLimit"))
    return _BACKOFF_LIMIT if limit is None else limit


def _misspelt(cluster: Cluster, workload: Workload) -> str:
    """The misspelled scheduler that pods of an object name; empty: they name none."""
    names = (workload.scheduler_name(it) for it in workload.templates if not it.spec.node_name)
    return next((it for it in names if meant_scheduler(cluster, it)), "")


def _controller(workload: Workload | None) -> LabelSelector | None:
    """The selector that spreads the pods of an object by default."""
    if workload is None or workload.kind not in _SERVES:
        return None
    return selector_of(workload.spec.get("selector"))


def _key(object_: Object) -> tuple[str, str, str]:
    return object_.kind, object_.namespace, object_.name


def _is_owned(object_: Object) -> bool:
    return any(
        it.get("controller") is True for it in mappings(object_.data, "metadata", "ownerReferences")
    )


def _parents(cluster: Cluster) -> dict[tuple[str, str, str], tuple[str, str, str]]:
    """The controller of each object that has one."""
    return {
        _key(it): (text(owner, "kind"), it.namespace, text(owner, "name"))
        for it in cluster.objects
        for owner in mappings(it.data, "metadata", "ownerReferences")
        if owner.get("controller") is True and it.group != "kueue.x-k8s.io"
    }
