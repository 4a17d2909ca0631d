"""Explains the workloads of a scene: why they wait, and what would let them run."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from policygen.kubernetes.schedulers import VOLCANO
from policygen.kubernetes.snapshot import Pod
from policygen.simulate.arrival import Arrival
from policygen.simulate.kueue.workload import Admission, QueuedWorkload
from policygen.simulate.scene import Scene
from policygen.simulate.why.causes import Cause, CauseKind, waiting_pods, with_owners
from policygen.simulate.why.changes import FieldChange, OwnChange, PodsChange
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.gang_remedies import Gangs
from policygen.simulate.why.job_names import named_jobs
from policygen.simulate.why.node_causes import OccupiedNodes
from policygen.simulate.why.node_room import NodeRoom, flavors_of
from policygen.simulate.why.object_causes import (
    deactivated,
    object_cause,
    past_queue,
    requeued_later,
    scheduler_missing,
    status_cause,
)
from policygen.simulate.why.owners import WorkloadOwners
from policygen.simulate.why.pool_access import PoolAccess, PoolBounds
from policygen.simulate.why.quota_causes import REFUSING, quota_cause
from policygen.simulate.why.refused_pods import JobQuotas, missing, quota_refusal
from policygen.simulate.why.remedies import MOST, beyond, cost, ends, remedies, simple, waiting_in
from policygen.simulate.why.remedy import Cost, Remedy
from policygen.simulate.why.scene_changes import (
    arrival_of,
    changed_scene,
    managing_changes,
    scheduler_changes,
)
from policygen.simulate.why.scene_nodes import SceneNodes
from policygen.simulate.why.scene_situation import SceneQueues, asked_workload
from policygen.simulate.why.siblings import siblings
from policygen.simulate.why.situation import (
    AskedWorkload,
    Settled,
    Situation,
)
from policygen.simulate.why.spec_changes import SpecPolicy
from policygen.simulate.why.start import Start, StartTimes

_LATER = 3
"""So many changes for later are shown beside changes with which a workload starts now."""


class Explainer:
    """Explains workloads of one scene; what several share is computed once.

    With `bounds`, changes keep what these name.
    """

    def __init__(
        self, scene: Scene, arrivals: Sequence[Arrival], bounds: PoolBounds | None = None
    ) -> None:
        self.scene = scene
        self._bounds = bounds
        self._access = PoolAccess(scene, bounds)
        self.arrivals = arrivals
        self._owners = WorkloadOwners(scene, arrivals)
        self._spec = SpecPolicy(scene.spec) if scene.spec is not None else None
        self._nodes = SceneNodes(scene, arrivals)
        self._quotas = JobQuotas(scene, arrivals)
        self._gangs: dict[str, Gangs] = {}
        """By the name of a job that may not exist yet; without a name, of the arrivals alone."""
        self._queues = SceneQueues(scene, arrivals)
        self._starts = StartTimes(
            scene,
            arrivals,
            queues=self._queues,
            nodes=self._nodes,
            owners=self._owners,
            gangs=self._with_gang,
        )

    def named(self, name: str) -> list[Arrival]:
        """The workloads with this name (see `named_jobs`)."""
        return named_jobs(self.arrivals, name)

    def explain(self, arrival: Arrival, *, search: bool = True) -> Explanation:
        """Why a workload waits. Without `search`, no remedies are looked for."""
        found = self._explained(arrival, search=search)
        if search and self.scene.growing and found.waits and not found.cause.lasts:
            start = self._starts.with_nodes(arrival)
            if start.after is not None:
                found = replace(found, start=start, ends=())
        found = self._without_endless(found)
        return replace(found, preempted=self._owners.history(arrival))

    def _without_endless(self, found: Explanation) -> Explanation:
        """The explanation without what waits for the end of a model, which serves without an end."""
        endless = {it.name for it in self.arrivals if it.model and it.duration is None}
        later = tuple(it for it in found.later if endless.isdisjoint(it.ends))
        return replace(
            found, later=later, ends=found.ends if endless.isdisjoint(found.ends) else ()
        )

    def cost(self, arrival: Arrival) -> Cost | None:
        """What a new workload costs others; None: neither Kueue nor Volcano manages it."""
        if arrival.gang is not None:
            return self._with_gang(arrival).cost(arrival)
        if arrival.workload is None:
            return None
        asked = asked_workload(arrival, arrival.workload, self.scene)
        near, _ = self._queues.around(asked)
        found = cost(near, asked.name, near.settle(), near.settle(asked))
        return self._owners.shown(Remedy((), found)).cost

    def start(self, arrival: Arrival, seed: int = 1) -> Start:
        """When a new workload starts, by the durations of all, with the random choices of a seed."""
        return self._starts.of(arrival, seed)

    def pending(self) -> Iterator[Arrival]:
        """The workloads that do not run: without quota, or with pods that have no node."""
        for it in self.arrivals:
            if it.unknown:
                continue  # the report names it as not modelled
            queued = it.workload is not None and it.workload.admission is None
            knows_nodes = it.workload is None or self.scene.nodes
            if (
                it.refusal
                or it.unscheduled
                or queued
                or (it.workload is not None and it.workload.pending_checks)
                or (any(one.gates for one in it.pods) and not any(it.nodes))
                or (knows_nodes and not it.is_placed)
                or self._quotas.complete(it) is not it
            ):
                yield it

    def _explained(self, arrival: Arrival, *, search: bool) -> Explanation:
        workload = arrival.workload
        known = Explanation(arrival.name, arrival.kind, arrival.team, Cause(CauseKind.ADMITTED))
        if arrival.refusal and (arrival.unknown or workload is None):
            kind = CauseKind.UNKNOWN if arrival.unknown else CauseKind.NOT_MANAGED
            about = f"{arrival.kind} {arrival.object_name}"
            labels = search and not arrival.unknown
            changes = managing_changes(self.scene.cluster, arrival) if labels else ()
            found = tuple(self._proven(arrival, changes))
            return replace(known, cause=Cause(kind, about, message=arrival.refusal), remedies=found)
        if arrival.unscheduled:
            cause = scheduler_missing(self.scene.cluster, arrival.unscheduled)
            names = scheduler_changes(self.scene.cluster, arrival, cause.names[-1])
            renamed = tuple(self._proven(arrival, names if search else ()))
            return replace(known, cause=cause, remedies=renamed)
        if arrival.gang is not None:
            return self._in_gang(known, arrival, search=search)
        if workload is None:
            own = self._on_nodes(known, arrival, {}, search=search, nodes=self._nodes.now())
            cause = past_queue(arrival, own.cause)
            return own if cause is own.cause else replace(known, cause=cause)
        status = status_cause(self._owners.object(workload), workload)
        if status is not None:
            return replace(known, cause=status)
        if not workload.active and deactivated(workload).names:
            return replace(known, cause=deactivated(workload))  # the check would reject it again
        if workload.admission is not None:
            chosen = flavors_of(workload.admission)
            admitted = arrival.admitted()
            own = self._on_nodes(known, admitted, chosen, search=search, nodes=self._nodes.now())
            again = self._admitted_again(own.remedies, arrival, workload)
            return replace(own, remedies=tuple(again))
        return self._in_queue(known, arrival, workload, search=search)

    def _admitted_again(
        self, found: Iterable[Remedy], arrival: Arrival, workload: QueuedWorkload
    ) -> Iterator[Remedy]:
        """The remedies with which Kueue gives the same flavors again: it evicts a job that changes."""
        for it in found:
            if not any(isinstance(one, OwnChange) for one in it.changes):
                yield it
                continue
            asked = self._with_siblings(arrival, workload)
            near, _ = self._queues.around(asked)
            after = near.settle(asked, it.changes)
            admission = after.admitted.get(asked.name)
            group = asked.with_siblings(it.changes)
            if len(group) > 1:
                if not all(one.name in after.admitted for one in group):
                    continue
                room = self._nodes.room(near, arrival)
                again = room.placed(it, after.admitted, group) if room is not None else it
                if again is None or again.placed is False:
                    continue
            chosen = workload.admission and flavors_of(workload.admission)
            if admission is not None and flavors_of(admission) == chosen:
                more = self._owners.shown(
                    Remedy((), cost(near, asked.name, near.settle(), after))
                ).cost
                gone = tuple(sorted({*it.cost.preempted, *more.preempted}))
                replicas = len(group) if len(group) > 1 else 0
                yield replace(it, cost=replace(more, preempted=gone), replicas=replicas)

    def _with_siblings(self, arrival: Arrival, workload: QueuedWorkload) -> AskedWorkload:
        """What its owner wrote, with the other replicas, which the owner changes at once."""
        asked = asked_workload(arrival, workload, self.scene)
        others = (
            asked_workload(it, it.workload, self.scene)
            for it in siblings(self.scene, self.arrivals, arrival)
            if it.workload is not None
        )
        return replace(asked, siblings=tuple(others))

    def _in_queue(
        self, known: Explanation, arrival: Arrival, workload: QueuedWorkload, *, search: bool
    ) -> Explanation:
        asked = self._with_siblings(arrival, workload)
        cause = object_cause(self.scene.cluster, asked)
        near, settled = self._queues.around(asked)
        if cause is None:
            # Decided about alone: a new workload, or one that Kueue queues again later.
            if workload.hold or asked.name not in near.names:
                settled = near.settle(asked, keep=True)
            admission = settled.admitted.get(asked.name)
            if admission is not None:
                entry = settled.entries.get(asked.name)
                now = replace(
                    known,
                    cause=Cause(CauseKind.ADMISSIBLE),
                    admission=_names(admission),
                    either=entry is not None and entry.workload.either,
                )
                nodes = (
                    self._nodes.now() if asked.name in near.names else self._nodes.with_held(near)
                )
                left = (
                    nodes.leave(map(self._owners.name, settled.victims))
                    if nodes is not None
                    else []
                )
                chosen = flavors_of(admission)
                own = arrival.with_pods(admission.counts)
                found = self._on_nodes(now, own, chosen, search=search, nodes=nodes)
                if nodes is not None:
                    nodes.back(left)
                later = None if found.waits else requeued_later(workload)
                return found if later is None else replace(known, cause=later)
            waiting = waiting_in(settled, asked.name)
            cause = quota_cause(settled, waiting) if waiting is not None else None
        if cause is None:
            cause = Cause(CauseKind.UNKNOWN, message=workload.message)
        elif cause.kind is CauseKind.DEACTIVATED:
            cause = deactivated(workload)
        cause = self._lasting(cause, arrival, workload, near, settled)
        found = replace(known, cause=with_owners(cause, self._owners.name))
        return self._with_remedies(found, cause, arrival, asked, near) if search else found

    def _lasting(
        self,
        cause: Cause,
        arrival: Arrival,
        workload: QueuedWorkload,
        near: Situation,
        settled: Settled,
    ) -> Cause:
        """The cause, and why nodes never hold the pods."""
        room = self._nodes.room(near, arrival)
        choices = list(_choices(settled, cause))  # without a queue, the tolerations are not known
        least = arrival.with_pods({it.name: it.fewest for it in workload.pod_sets})
        never = None
        if room is not None and choices:
            never = dataclasses.replace(room, arrival=least).never(choices)
        return replace(cause, never=never)

    def _with_remedies(
        self,
        known: Explanation,
        cause: Cause,
        arrival: Arrival,
        asked: AskedWorkload,
        near: Situation,
    ) -> Explanation:
        """The changes with which Kueue admits a workload, and the jobs whose end does."""
        room = self._nodes.room(near, arrival)
        proven = remedies(near, asked, room, self._spec, self._bounds)
        lasting = cause.lasts
        later = self._later(near, asked, room) if lasting else ()
        later = beyond(later, proven.remedies)
        if any(it.placed is not False for it in proven.remedies):
            later = later[:_LATER]
        after = ends(near, asked, cause) if not lasting else ()
        return replace(
            known,
            remedies=tuple(map(self._owners.shown, proven.remedies)),
            later=tuple(self._owners.shown(self._when(near, asked, it, room)) for it in later),
            ends=tuple(map(self._owners.name, after)) or self._starts.ends(arrival, cause, near),
            tried=proven.tried,
        )

    def _later(self, near: Situation, asked: AskedWorkload, room: NodeRoom | None) -> list[Remedy]:
        """Changes with which a workload starts if it is alone."""
        alone = dataclasses.replace(near, held={}, pending=())
        admission = alone.settle(asked).admitted.get(asked.name)
        if room is not None and admission is not None:
            found = room.empty.remedies(
                room.arrival, flavors_of(admission), self._access.nodes(room.arrival)
            )
            return sorted(simple(list(found)), key=lambda it: it.rank)[:MOST]
        empty = None if room is None else dataclasses.replace(room, now=room.empty)
        return remedies(alone, asked, empty, self._spec, self._bounds).remedies

    def _when(
        self, near: Situation, asked: AskedWorkload, it: Remedy, room: NodeRoom | None
    ) -> Remedy:
        """A remedy for later, with the workloads that must end."""
        settled = near.settle(asked, it.changes, keep=True)
        waiting = waiting_in(settled, asked.name)
        if waiting is None:
            admission = settled.admitted.get(asked.name)
            if room is None or admission is None:
                return it
            own = room.arrival.with_pods(admission.counts)
            changes = [one for one in it.changes if not isinstance(one, PodsChange)]
            return replace(it, ends=room.now.ends(own, flavors_of(admission), changes))
        return replace(it, ends=ends(near, asked, quota_cause(settled, waiting), it.changes))

    def _in_gang(self, known: Explanation, arrival: Arrival, *, search: bool) -> Explanation:
        gangs = self._with_gang(arrival)
        cause = gangs.cause(arrival)
        if cause is None:
            runs = CauseKind.ADMITTED if any(arrival.nodes) else CauseKind.ADMISSIBLE
            return replace(known, cause=Cause(runs))
        known = replace(known, cause=cause)
        if not search:
            return known
        found = gangs.remedies(arrival, cause)[:MOST]
        tried = gangs.tried
        later = gangs.later(arrival) if cause.lasts or not found else []
        later = beyond(later, found)[:_LATER]
        later = [replace(it, ends=gangs.ends(arrival, it.changes)) for it in later]
        ends_ = () if cause.lasts else gangs.ends(arrival)
        return replace(known, remedies=tuple(found), later=tuple(later), ends=ends_, tried=tried)

    def _with_gang(self, arrival: Arrival) -> Gangs:
        """The gangs of the scene, and a job that may not exist yet."""
        is_new = all(it.name != arrival.name for it in self.arrivals)
        key = arrival.name if is_new else ""
        if key not in self._gangs:
            jobs = [*self.arrivals, arrival] if is_new else self.arrivals
            self._gangs[key] = Gangs(self.scene, jobs, self._spec, self._access)
        return self._gangs[key]

    def _on_nodes(
        self,
        known: Explanation,
        arrival: Arrival,
        chosen: Mapping[str, Mapping[str, str]],
        *,
        search: bool,
        nodes: OccupiedNodes | None,
    ) -> Explanation:
        """Whether these nodes have room for its pods."""
        stated = () if any(arrival.nodes) else arrival.pods
        of_pods = (it.gates for it in self._pods(arrival))
        gates = sorted({gate for it in (*of_pods, *(it.gates for it in stated)) for gate in it})
        if gates:
            return replace(known, cause=Cause(CauseKind.GATED, names=tuple(gates)))
        names = {it.spec.scheduler_name for it in arrival.pods} - {""}
        if VOLCANO in names or arrival.kind == "PodGroup":
            return replace(known, cause=Cause(CauseKind.VOLCANO, names=tuple(sorted(names))))
        occupied = nodes
        created = sum(map(bool, arrival.nodes)) + sum(1 for _ in self._pods(arrival))
        created = max(created, arrival.created)
        every = self._quotas.complete(arrival)
        refusal = self._quotas.refusing(every, created)
        if refusal is not None:
            pods = sum(it.count for it in every.pods)
            cause = replace(
                quota_refusal(refusal, arrival.namespace),
                placed=min(created, pods),
                pods=pods,
                waiting=waiting_pods(
                    every.pods, (count for _, count in missing(every.pods, created))
                ),
            )
            if not search:
                return replace(known, cause=cause)
            found = self._quotas.remedies(every, refusal, created, self._nodes.now(), chosen)
            ordered = sorted(simple(list(found)), key=lambda it: it.rank)
            return replace(known, cause=cause, remedies=tuple(ordered))
        if occupied is None:
            return known
        unknown = names - set(occupied.kube.profiles)
        if unknown and self.scene.cluster.seen is not None:  # it waits, so none takes it
            cause = scheduler_missing(self.scene.cluster, min(unknown))
            return replace(known, cause=cause)
        unplaced = occupied.cause(arrival, chosen)
        if unplaced is None:
            return known
        empty = self._nodes.empty()
        never = empty.never(arrival, chosen) if empty is not None else None
        unplaced = replace(unplaced, never=never)
        if not search:
            return replace(known, cause=unplaced)
        labels = arrival.workload is None and not created
        changes = managing_changes(self.scene.cluster, arrival) if labels else ()
        placing = list(occupied.remedies(arrival, chosen, self._access.nodes(arrival)))
        ordered = sorted(simple(placing), key=lambda it: it.rank)
        return replace(
            known,
            cause=unplaced,
            remedies=(*self._proven(arrival, changes), *ordered)[:MOST],
            ends=() if never is not None else occupied.ends(arrival, chosen),
        )

    def _proven(self, arrival: Arrival, changes: Iterable[FieldChange]) -> Iterator[Remedy]:
        """The changes of an object after each of which its job starts."""
        for change in changes:
            scene = changed_scene(self.scene, [change])
            identity = change.group or "", change.kind, change.namespace, change.name
            made = arrival_of(scene, identity)
            if made is None:
                continue
            made = replace(made, name=arrival.name, at=arrival.at, duration=arrival.duration)
            others = [made if it is arrival else it for it in self.arrivals]
            after = Explainer(scene, others).explain(made, search=False)
            if not after.waits:
                yield Remedy((change,), Cost(), after.admission)

    def _pods(self, arrival: Arrival) -> Iterator[Pod]:
        """The pods of a snapshot that belong to an object and have no node."""
        namespace, _, name = arrival.object_name.partition("/")
        for it in self.scene.cluster.pods:
            if it.namespace == namespace and not it.node and not it.done:
                owner = it.owner.name if it.owner else it.name
                if owner == name:
                    yield it


def _choices(settled: Settled, cause: Cause) -> Iterator[list[str]]:
    """The flavors of the queue that the workload can have, by resource group."""
    refused = {it.flavor for it in cause.obstacles if it.kind in REFUSING}
    queue = settled.state.queues.get(cause.queue)
    for group in queue.groups if queue is not None else ():
        names = [it.name for it in group.flavors]
        yield [it for it in names if it not in refused] or names


def _names(admission: Admission) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f for it in admission.pod_sets for f in it.flavors.values()))
