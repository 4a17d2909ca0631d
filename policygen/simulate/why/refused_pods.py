"""ResourceQuotas that refuse pods of a workload, and changes with which they do not."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec.structs import replace

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.pod_quotas import PODS, charge, resource_of
from policygen.kubernetes.untyped import integer, mapping
from policygen.kubernetes.workloads import PodSpec, Workload
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.kueue.amounts import counted, shown
from policygen.simulate.pod_quotas import PodQuotas, RefusingQuota
from policygen.simulate.scene import Scene
from policygen.simulate.why.causes import Cause, CauseKind
from policygen.simulate.why.changes import (
    Change,
    FieldChange,
    OwnChange,
    PodsChange,
    PolicyChange,
    RequestChange,
    SpecChange,
)
from policygen.simulate.why.node_causes import UNIT, OccupiedNodes, changed_batch
from policygen.simulate.why.remedy import Cost, Remedy
from policygen.simulate.why.scene_changes import changed_scene
from policygen.simulate.why.spec_pod_quotas import SpecPodQuotas

_MOST_RAISED = 8
"""The most ResourceQuotas that one remedy raises."""


class JobQuotas:
    """The ResourceQuotas of a scene, with the pods of all its jobs."""

    def __init__(self, scene: Scene, arrivals: Sequence[Arrival]) -> None:
        self._scene = scene
        self._arrivals = arrivals
        self._spec = SpecPodQuotas(scene.spec) if scene.spec is not None else None
        self._objects: Mapping[tuple[str, str], Workload] | None = None
        """The objects of users by kind and name."""

    def complete(self, arrival: Arrival) -> Arrival:
        """The workload with the pods that its controller could not create yet."""
        if not self._scene.cluster.resource_quotas.by_namespace.get(arrival.namespace):
            return arrival
        if self._objects is None:
            self._objects = {
                (it.kind, f"{it.namespace or 'default'}/{it.name}"): it
                for it in self._scene.cluster.workloads
            }
        owner = self._objects.get((arrival.kind, arrival.object_name))
        more = (wanted_pods(owner) if owner else 0) - sum(it.count for it in arrival.pods)
        if more <= 0 or not arrival.pods:
            return arrival
        *others, last = arrival.pods
        return replace(arrival, pods=(*others, replace(last, count=last.count + more)))

    def refusing(self, arrival: Arrival, created: int) -> RefusingQuota | None:
        """The first quota that refuses a pod of a complete workload; None: no quota does."""
        quotas = self._of(arrival.namespace, self._scene.cluster)
        return quotas.refusing(arrival.namespace, missing(arrival.pods, created))

    def remedies(
        self,
        arrival: Arrival,
        refusal: RefusingQuota,
        created: int,
        nodes: OccupiedNodes | None,
        chosen: Mapping[str, Mapping[str, str]],
    ) -> Iterator[Remedy]:
        """Changes with which no ResourceQuota refuses pods of a complete workload, and nodes have room for them."""
        namespace = arrival.namespace
        quotas = self._of(namespace, self._scene.cluster)

        def placed(changes: Sequence[Change]) -> bool | None:
            return None if nodes is None else nodes.has_room(arrival, changes, chosen, ())

        for family in quota_families(refusal, arrival):
            for changes in family:
                pods = smaller(arrival.pods, changes)
                room = placed(changes)
                left = missing(pods, created)
                if room is not False and quotas.refusing(namespace, left) is None:
                    yield Remedy(tuple(changes), Cost(), placed=room)
                    break
        raised = self._raised(arrival, refusal, created)
        if raised:
            yield Remedy(raised, Cost(), placed=placed(raised))

    def _raised(
        self, arrival: Arrival, refusal: RefusingQuota, created: int
    ) -> tuple[PolicyChange, ...]:
        """Higher quotas, or changes of the spec that renders them; empty: these do not help."""
        namespace = arrival.namespace
        needed: dict[tuple[str, str], Fraction] = {}
        fields: list[FieldChange] = []
        spec: SpecChange | None = None
        found: RefusingQuota | None = refusal
        while found is not None and not found.unset and len(needed) + len(fields) < _MOST_RAISED:
            if self._spec is not None and self._spec.renders(namespace, found.name):
                needed[namespace, found.key] = found.used + found.all
                spec = self._spec.raised(needed)
                if spec is None:
                    return ()
            else:
                fields.append(higher_quota(found, namespace))
            effects = (*fields, *(spec.effects if spec is not None else ()))
            quotas = self._of(namespace, changed_scene(self._scene, effects).cluster)
            found = quotas.refusing(namespace, missing(arrival.pods, created))
        if found is not None:
            return ()
        return (*([spec] if spec is not None else []), *fields)

    def _of(self, namespace: str, cluster: Cluster) -> PodQuotas:
        own = [it for it in self._arrivals if it.namespace == namespace]
        return PodQuotas(cluster, own)


def missing(batches: Sequence[PodBatch], existing: int) -> Iterator[tuple[PodSpec, int]]:
    """The pods of each batch that do not exist yet, if so many of all do."""
    for it in batches:
        yield it.spec, max(it.count - existing, 0)
        existing = max(existing - it.count, 0)


def quota_refusal(found: RefusingQuota, namespace: str) -> Cause:
    """The cause, with the words of the API server."""
    about = f"ResourceQuota {namespace}/{found.name}"
    if found.unset:
        message = f"failed quota: {found.name}: must specify {','.join(found.unset)}"
        return Cause(CauseKind.PODS_REFUSED, about, message=message, names=found.unset)
    each, used, hard = (_shown(found.key, it) for it in (found.each, found.used, found.hard))
    key = found.key
    message = (
        f"exceeded quota: {found.name}, requested: {key}={each}, used: {key}={used}, "
        f"limited: {key}={hard}"
    )
    return Cause(CauseKind.PODS_REFUSED, about, message=message)


def quota_families(found: RefusingQuota, arrival: Arrival) -> Iterator[list[list[OwnChange]]]:
    """Fewer and smaller pods, the largest first."""
    resource = resource_of(found.key)
    for it in arrival.pods if not found.unset else ():
        amount = counted(resource, charge(it.spec, found.key))
        if not amount:
            continue
        if it.count > 1:
            yield [[PodsChange(it.name, it.count, n)] for n in range(it.count - 1, 0, -1)]
        if found.key not in PODS:
            unit = UNIT.get(resource, 1)
            yield [
                [RequestChange(it.name, resource, amount, n * unit)]
                for n in range((amount - 1) // unit, 0, -1)
            ]


def higher_quota(found: RefusingQuota, namespace: str) -> FieldChange:
    """The quota with which all pods are created."""
    after = _shown(found.key, found.used + found.all)
    before = _shown(found.key, found.hard)
    path = "spec", "hard", found.key
    return FieldChange("ResourceQuota", namespace, found.name, path, before, after)


def wanted_pods(owner: Workload) -> int:
    """How many pods the controller of an object keeps."""
    if owner.kind != "Job":
        return sum(it.replicas or 0 for it in owner.templates)
    spec = owner.spec
    parallel = 1 if (found := integer(spec.get("parallelism"))) is None else found
    total = integer(spec.get("completions"))
    done = integer(mapping(owner.object.data, "status").get("succeeded")) or 0
    return parallel if total is None else min(parallel, total - done)


def smaller(batches: Sequence[PodBatch], changes: Sequence[OwnChange]) -> list[PodBatch]:
    """The pods after changes."""
    return [changed_batch(it, changes) for it in batches]


def _shown(key: str, amount: Fraction) -> str:
    name = resource_of(key)
    return shown(name, counted(name, amount))
