"""Jobs for which the input has a Workload, which states what Kueue decided."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from policygen.kubernetes.conditions import condition, created, holds
from policygen.kubernetes.kueue_workloads import PodSetTemplate, PodSetView, WorkloadView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mappings, text
from policygen.simulate.arrival import Arrival
from policygen.simulate.jobs.arrival_maker import ArrivalMaker
from policygen.simulate.jobs.existing_pods import ExistingPods
from policygen.simulate.jobs.object_keys import ObjectKey
from policygen.simulate.jobs.reserved_quota import (
    ReservedQuota,
    counted_sets,
    pending_checks,
    reclaimable,
)
from policygen.simulate.jobs.unknown_parts import features, volumes
from policygen.simulate.kueue.build import workload_of
from policygen.simulate.kueue.jobs import QueuedJob
from policygen.simulate.kueue.workload import PodSet, QueuedWorkload

_NO_REQUESTS = "Workloads whose requests are not known, because their owner was not read"


def owner_of(entry: Entry[WorkloadView]) -> ObjectKey | None:
    """The object for which a Workload was created."""
    for it in mappings(entry.object.data, "metadata", "ownerReferences"):
        return text(it, "kind"), entry.namespace, text(it, "name")
    return None


def of_workload(
    maker: ArrivalMaker,
    existing: ExistingPods,
    quota: ReservedQuota,
    entry: Entry[WorkloadView],
    made: Mapping[ObjectKey, Sequence[QueuedJob]],
) -> Arrival:
    """A Workload of the input. `made` are those that Kueue would make now, by owner."""
    owner = owner_of(entry)
    object_ = entry.object
    at = maker.time(created(object_))
    pods = existing.placed(owner)
    ended = reclaimable(object_)
    left = [
        replace(it, count=it.count - min(ended.get(it.name, 0), it.count))
        for it in entry.fields.pod_sets
    ]
    fields = replace(entry.fields, pod_sets=tuple(left))
    own = made.get(owner, ()) if owner else ()
    templates = own[0].fields.pod_sets if own else ()
    by_name = {it.name: it for it in templates}
    sets = tuple(_with_template(it, by_name.get(it.name)) for it in fields.pod_sets)
    if pods and not any(it.template.spec.containers for it in sets) and len(sets) == 1:
        sets = (replace(sets[0], template=PodSetTemplate(pods[0].spec)),)
    name = f"{entry.namespace}/{entry.name}"
    uid = text(object_.data, "metadata", "uid") or name
    workload = workload_of(name, uid, at, replace(fields, pod_sets=sets), maker.scene.settings)
    unknown: tuple[str, ...] = ()
    if not any(it.template.spec.containers for it in sets):
        workload = _with_sets(workload, counted_sets(object_, fields))
        if not any(it.requests for it in workload.pod_sets):
            unknown = (_NO_REQUESTS,)
    workload.admission = quota.admission(object_, workload.pod_sets)
    workload.ready = holds(object_, "PodsReady")
    if workload.admission is not None and not holds(object_, "Admitted"):
        workload.pending_checks = frozenset(pending_checks(object_))
    quota.add_past(workload, object_)
    condition_ = condition(object_, "QuotaReserved")
    if condition_ is not None and not condition_.holds:
        workload.reason, workload.message = condition_.reason, condition_.message
    kind, shown = (owner[0], f"{owner[1]}/{owner[2]}") if owner else ("Workload", name)
    source = maker.source(owner)
    labels = source.templates[0].labels if source and source.templates else {}
    return maker.arrival(
        shown,
        object_ if source is None else source.object,
        workload,
        tuple(maker.batch(it, entry.namespace, labels) for it in sets),
        kind=kind,
        at=at,
        nodes=tuple(it.node for it in pods if it.node) if workload.admission is not None else (),
        created=len(existing.of(owner)),
        refusal="" if fields.active else "the Workload is not active (spec.active is false)",
        unscheduled=maker.misspelt(source),
        unmodelled=(*features(fields), *volumes(source), *unknown),
    )


def _with_template(pod_set: PodSetView, made: PodSetView | None) -> PodSetView:
    """The pod set of a Workload with the template of its owner, which snapshots only have there."""
    if made is None:
        return pod_set
    request = pod_set.topology_request or made.topology_request
    return replace(pod_set, template=made.template, topology_request=request)


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
