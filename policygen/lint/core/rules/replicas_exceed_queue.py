"""The queue of a workload can never run all its pods at once."""

from collections.abc import Sequence
from fractions import Fraction

from policygen.core.amounts import amount_of
from policygen.core.finding import Exceeded
from policygen.core.names import POD_GROUP
from policygen.core.quoting import counted, some
from policygen.lint.core.autoscalers import Autoscaler, autoscalers
from policygen.lint.core.node_rooms import most_on_nodes
from policygen.lint.core.node_sums import room_beside
from policygen.lint.core.pod_demands import READS as READS_OF_PODS
from policygen.lint.core.queue_rooms import READS, RESTARTED, QueueRoom, queue_rooms
from policygen.lint.core.queue_sums import (
    LASTING,
    READS_OF_JOBS,
    QueueMember,
    largest_job,
    members_beside,
)
from policygen.lint.core.rollouts import rollout
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.queues import to_volcano


def check(facts: Facts) -> Hits:
    """The other pods wait, also if no other workload uses the queue or its cohort.

    Kueue counts each pod of a Deployment and each group of a LeaderWorkerSet. With an autoscaler, its
    maximum counts. Source: see lint/core/queue_rooms.py.
    """
    scaled = facts.cluster.derive(autoscalers)
    for room in facts.derive(queue_rooms):
        workload = room.workload
        if not room.pods:
            continue  # workload-exceeds-quota reports it
        autoscaler = scaled.get((workload.namespace, workload.kind, workload.name))
        count = _count(room)
        if autoscaler is not None and autoscaler.most > room.pods:
            yield _of_autoscaler(facts, room, autoscaler)
        elif autoscaler is None and count is not None and count > room.pods:
            if _is_reported(facts, room):
                continue
            yield _of_workload(facts, room, count)


def _is_reported(facts: Facts, room: QueueRoom) -> bool:
    """Whether pods-exceed-capability or gang-exceeds-queue reports pods of Volcano."""
    if not to_volcano(room.template):
        return False
    name = room.template.annotations.get(POD_GROUP, "")
    group = facts.cluster.pod_groups.get(name, room.workload.namespace)
    return group is None or group.fields.min_member > room.pods


def _count(room: QueueRoom) -> int | None:
    """The number of pods or groups; None if it is invalid."""
    found = room.workload.spec.get("replicas", 1)
    return found if isinstance(found, int) else None


def _of_workload(facts: Facts, room: QueueRoom, count: int) -> Hit:
    workload = room.workload
    begin = f"only {room.pods} of the {count} {room.unit}s of {workload} can run at once"
    at = workload.at.to("spec", "replicas")
    most = _on_nodes(facts, room)
    beside = room_beside(facts, room)
    if beside is not None and most and beside.pods < most:
        proposed = f"{beside.pods}" if beside.pods > 0 else f"{room.pods} and add nodes"
        needs = "needs" if len(beside.others) == 1 else "need"
        message = (
            f"{begin}: {room.why}; set replicas to {proposed}, because "
            f"{some(beside.others, 'other workload')} also {needs} these nodes"
        )
        return Hit(RULE, message, at, (room.at,), exceeds=(_exceeded(room),))
    message = f"{begin}: {room.why}; {advice_for(facts, room, 'replicas')}"
    return Hit(RULE, message, at, (room.at,), exceeds=(_exceeded(room),))


def _exceeded(room: QueueRoom) -> Exceeded:
    most = amount_of(room.resource, room.most, room.each)
    limit = f"{room.queue} can have at most {most}"
    return Exceeded(room.workload.at, room.resource, room.most, limit)


def _of_autoscaler(facts: Facts, room: QueueRoom, autoscaler: Autoscaler) -> Hit:
    most = counted(autoscaler.most, room.unit)
    begin = (
        f"{autoscaler.name} allows {most} of {room.workload}, but only {room.pods} can run at once"
    )
    advice = advice_for(facts, room, autoscaler.field)
    return Hit(RULE, f"{begin}: {room.why}; {advice}", autoscaler.at, (room.at,))


def advice_for(facts: Facts, room: QueueRoom, field: str) -> str:
    """What to change, if more pods are wanted than have room in the queue."""
    most, others = _on_nodes(facts, room), _beside(facts, room)
    used = sum((it.amounts[room.resource] for it in others), Fraction(0))
    fewer = int((room.most - used) // room.each)
    if others and fewer < (most or room.pods):
        need = "needs" if len(others) == 1 else "need"
        who = some([str(it.workload) for it in others], "other workload")
        is_lasting = others[0].workload.kind in LASTING  # a job ends, and leaves room for an update
        set_ = _set(facts, room, field, fewer) if is_lasting else f"set {field} to {fewer}"
        lower = f"{set_}, because {who} also {need} this queue, or "
        return f"{lower if fewer > 0 else ''}raise {room.limit}"
    if 0 < most < room.pods:
        why = f"because the nodes have room for only {counted(most, room.unit)}"
        return f"{_set(facts, room, field, most)}, {why}"
    return f"{_set(facts, room, field, room.pods)}, or raise {room.limit}"


def _set(facts: Facts, room: QueueRoom, field: str, pods: int) -> str:
    """Advice to run as many pods as there is room for: an update then must first delete one."""
    update = rollout(facts.cluster, room.workload, pods) if field == "replicas" else None
    strategy = " with maxUnavailable: 1 and maxSurge: 0" if update and update.strict else ""
    return f"set {field} to {pods}{strategy}"


def _beside(facts: Facts, room: QueueRoom) -> Sequence[QueueMember]:
    """The workloads that need quota beside a workload: those that do not end, or else the largest job."""
    others = members_beside(facts, room)
    if others and sum(it.amounts[room.resource] for it in others) <= room.most:
        return others
    job = largest_job(facts, room)
    return [job] if job is not None and job.amounts[room.resource] + room.each <= room.most else []


def _on_nodes(facts: Facts, room: QueueRoom) -> int:
    """How many of the pods or groups that the queue can run have room on the nodes."""
    groups = _count(room) if room.unit == "group" else None
    found = room.pods
    for template in room.workload.templates:
        each = (template.replicas or 0) // groups if groups else 1
        if each:
            found = min(found, most_on_nodes(facts, template, room.pods * each) // each)
    return found


RULE = ObjectRule(
    "replicas-exceed-queue",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Lower the number of pods or the maximum of the autoscaler, or raise the limit of the queue.",
    judges=(*RESTARTED, "HorizontalPodAutoscaler", "ScaledObject"),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=tuple(dict.fromkeys((*READS, *READS_OF_PODS, *READS_OF_JOBS, "Node"))),
)
