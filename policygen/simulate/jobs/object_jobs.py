"""Jobs of objects that have no Workload: Kueue will make one, or does not manage them."""

from collections.abc import Sequence

from msgspec.structs import replace

from policygen.core.finding import at_path
from policygen.core.suggest import suggest
from policygen.kubernetes.core import LabelSelector
from policygen.kubernetes.daemons import daemon_nodes, on_node
from policygen.kubernetes.kueue_requests import as_pod
from policygen.kubernetes.kueue_workloads import PodSetTemplate, PodSetView
from policygen.kubernetes.node_filters import demand
from policygen.kubernetes.pod_terms import selector_of
from policygen.kubernetes.schedulers import VOLCANO
from policygen.kubernetes.untyped import text
from policygen.kubernetes.workloads import Workload
from policygen.simulate.arrival import Arrival
from policygen.simulate.jobs.arrival_maker import SERVES, ArrivalMaker
from policygen.simulate.jobs.object_keys import key_of
from policygen.simulate.jobs.unknown_parts import features, volumes
from policygen.simulate.kueue.build import workload_of
from policygen.simulate.kueue.jobs import QueuedJob, UnqueuedJob
from policygen.simulate.kueue.pod_sets import asks_topology
from policygen.simulate.volcano.gangs import gang_of, gang_of_group


def of_job(maker: ArrivalMaker, job: QueuedJob, index: int, count: int) -> Arrival:
    """A Workload that Kueue will create."""
    owner = job.owner
    at = maker.arrives(owner)
    name = (
        f"{job.namespace or 'default'}/{owner.name or text(owner.data, 'metadata', 'generateName')}"
    )
    order = f"{owner.at.document:06d}/{index:06d}"
    workload = workload_of(
        f"{job.namespace}/{job.name}", f"{order}/{name}", at, job.fields, maker.scene.settings
    )
    source = maker.source(key_of(owner))
    templates = source.templates if source is not None else ()
    batches = []
    for i, it in enumerate(job.fields.pod_sets):
        same = len(templates) == len(job.fields.pod_sets)
        labels = templates[i if same else 0].labels if templates else {}
        batches.append(maker.batch(it, job.namespace, labels, _controller(source)))
    shown = name if count == 1 else f"{name}-{index}"
    made = maker.arrival(
        shown,
        owner,
        workload,
        tuple(batches),
        kind=owner.kind,
        at=at,
        unscheduled=maker.misspelt(source),
        unmodelled=(*features(job.fields), *volumes(source)),
    )
    return made if count == 1 else replace(made, replica_of=f"{owner.kind} {name}")


def of_unqueued(maker: ArrivalMaker, job: UnqueuedJob) -> Arrival:
    """An object without a Workload: its pods start at once, or it cannot be simulated."""
    owner = job.owner
    name = f"{owner.namespace or 'default'}/{owner.name}"
    source = maker.source(key_of(owner))
    gang = gang_of(maker.cluster, source) if source is not None and by_volcano(source) else None
    templates = source.templates if source is not None else ()
    names = _part_names(source) if source is not None and len(templates) > 1 else ["main"]
    if gang is not None and len(templates) > 1:
        names = [it.role or name for it, name in zip(gang.tasks, names, strict=True)]
    batches = tuple(
        maker.batch(
            PodSetView(name, it.replicas or 0, None, PodSetTemplate(as_pod(it.spec))),
            owner.namespace,
            it.labels,
            _controller(source),
        )
        for name, it in zip(names, templates, strict=False)
    )
    unscheduled = maker.misspelt(source)
    refusal = "" if job.starts and batches else job.reason
    if source is not None and (by_volcano(source) or unscheduled):
        refusal = ""
    return maker.arrival(
        name,
        owner,
        None,
        batches,
        kind=owner.kind,
        at=maker.arrives(owner),
        refusal=refusal,
        unknown=job.unknown and gang is None and not unscheduled,
        unscheduled=unscheduled,
        gang=gang,
        unmodelled=tuple(volumes(source)),
        passes_by=job.passes_by,
        asks_topology=source is not None
        and any(asks_topology(it.annotations) for it in source.templates),
    )


def of_daemon(maker: ArrivalMaker, job: UnqueuedJob) -> Arrival:
    """A DaemonSet, with its pods on all nodes that take them."""
    source = maker.source(key_of(job.owner))
    if source is None or not source.templates or not maker.scene.nodes or maker.scene.is_implied:
        return of_unqueued(maker, job)
    [template] = source.templates
    view = PodSetView("main", 1, None, PodSetTemplate(as_pod(template.spec)))
    pod = maker.batch(view, source.namespace, template.labels)
    index = maker.index
    takers = daemon_nodes(index, demand(pod.spec, pod.spec.requests))
    missing = maker.scene.missing
    nodes = tuple(it.name for _, it in index.entries(takers) if it.name not in missing)
    return maker.arrival(
        f"{source.namespace}/{source.name}",
        job.owner,
        None,
        tuple(replace(pod, name=name, spec=on_node(pod.spec, name)) for name in nodes),
        kind=job.owner.kind,
        at=maker.arrives(job.owner),
        nodes=nodes,
        created=len(nodes),
        refusal="" if nodes else "no node takes its pods",
        unmodelled=tuple(volumes(source)),
    )


def of_group(
    maker: ArrivalMaker, namespace: str, name: str, sources: Sequence[Workload]
) -> Arrival:
    """A PodGroup of Volcano, with the pods of all objects that join it."""
    entry = maker.cluster.pod_groups.get(name, namespace)
    templates = [(source, it) for source in sources for it in source.templates]
    batches = tuple(
        maker.batch(
            PodSetView(f"{i}", it.replicas or 0, None, PodSetTemplate(as_pod(it.spec))),
            namespace,
            it.labels,
        )
        for i, (_, it) in enumerate(templates)
    )
    first = sources[0].object
    gang = None
    if entry is not None:
        gang = gang_of_group(maker.cluster, entry, (it for _, it in templates))
    known = maker.cluster.pod_groups.names(namespace)
    return maker.arrival(
        f"{namespace}/{name}",
        first,
        None,
        batches,
        kind="PodGroup",
        at=max(maker.arrives(it.object) for it in sources),
        refusal=""
        if gang
        else f"PodGroup {name} does not exist; {suggest(name, known, 'PodGroup')}",
        gang=gang,
    )


def _part_names(source: Workload) -> list[str]:
    """The names of the templates of an object: those of items of a list, or of fields."""
    names = []
    for i, template in enumerate(source.templates):
        path = template.at.path[len(source.at.path) :]
        end = next((n for n in range(len(path), 0, -1) if isinstance(path[n - 1], int)), 0)
        item = at_path(source.object.data, path[:end]) if end else None
        fields = [it for it in path if isinstance(it, str) and it not in ("spec", "template")]
        names.append(text(item, "name") or text(item, "groupName") if end else fields[-1])
        names[i] = names[i].removesuffix("Template") or str(i)
    return names if len({*names}) == len(names) else [str(i) for i in range(len(names))]


def by_volcano(workload: Workload) -> bool:
    """Whether pods of an object name Volcano."""
    return any(workload.scheduler_name(it) == VOLCANO for it in workload.templates)


def _controller(workload: Workload | None) -> LabelSelector | None:
    """The selector that spreads the pods of an object by default."""
    if workload is None or workload.kind not in SERVES:
        return None
    return selector_of(workload.spec.get("selector"))
