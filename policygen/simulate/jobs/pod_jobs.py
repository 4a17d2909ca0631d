"""Jobs of pods in a snapshot that no Workload admits."""

from collections.abc import Container, Iterator, Sequence
from itertools import groupby

from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.kueue_requests import as_pod
from policygen.kubernetes.kueue_workloads import PodSetTemplate, PodSetView
from policygen.kubernetes.schedulers import VOLCANO
from policygen.kubernetes.snapshot import Pod
from policygen.kubernetes.workloads import Workload
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.jobs.arrival_maker import ArrivalMaker, other_gates
from policygen.simulate.jobs.existing_pods import ExistingPods
from policygen.simulate.jobs.object_keys import ObjectKey
from policygen.simulate.kueue.pod_sets import asks_topology
from policygen.simulate.volcano.gangs import gang_of

_ROLE = "volcano.sh/task-spec"
"""The key by which pods of Volcano name their task."""


def other_pods(
    maker: ArrivalMaker, existing: ExistingPods, known: Container[ObjectKey]
) -> Iterator[Arrival]:
    """Pods of a snapshot that no Workload admits, by the object that created them."""
    for (kind, namespace, name), pods in existing.by_root.items():
        if (kind, namespace, name) in known:
            continue
        others = [it for it in pods if ("Pod", it.namespace, it.name) not in known]
        placed = [it for it in others if it.node]
        waiting = (it for it in others if not it.node)
        found = [*placed, *(it for it in waiting if not it.gates or other_gates(it.gates))]
        if not found:
            continue
        source = maker.source((kind, namespace, name))
        if source is not None and source.object.group == VOLCANO_BATCH:
            yield _running_gang(maker, source, found)
            continue
        yield maker.arrival(
            f"{namespace}/{name}",
            source.object if source is not None else found[0].object,
            None,
            tuple(_equal_pods(found, source)),
            kind=kind,
            at=min(maker.time(it.created) for it in found),
            nodes=tuple(it.node for it in placed),
            created=len(found),
            unmodelled=("PodGroups of Volcano in a snapshot",)
            if any(it.spec.scheduler_name == VOLCANO for it in found)
            else (),
            asks_topology=any(asks_topology(it.annotations) for it in found),
        )


def _running_gang(maker: ArrivalMaker, source: Workload, pods: Sequence[Pod]) -> Arrival:
    """A Job of Volcano with its pods."""
    left = [*pods]
    nodes: list[str] = []
    batches = []
    gang = gang_of(maker.cluster, source)
    roles = [it.role for it in gang.tasks] if gang is not None else []
    for role, it in zip(roles, source.templates, strict=False):
        own = [pod for pod in left if pod.labels.get(_ROLE, pod.annotations.get(_ROLE)) == role]
        count = it.replicas or 0
        own = sorted(own or left, key=lambda pod: not pod.node)[:count]
        left = [pod for pod in left if pod not in own]
        nodes += [pod.node for pod in own] + [""] * (count - len(own))
        view = PodSetView(role, count, None, PodSetTemplate(as_pod(it.spec)))
        batches.append(maker.batch(view, source.namespace, it.labels))
    return maker.arrival(
        f"{source.namespace}/{source.name}",
        source.object,
        None,
        tuple(batches),
        kind=source.kind,
        at=min(maker.time(it.created) for it in pods),
        nodes=tuple(nodes),
        gang=gang,
    )


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
        pod_gates = () if pod.node else other_gates(pod.gates)
        yield PodBatch(name, len(them), pod.spec, {**labels, **pod.labels}, None, pod_gates)


def _likeness(pod: Pod) -> tuple[object, ...]:
    return id(pod.spec), sorted(pod.labels.items()), pod.gates
