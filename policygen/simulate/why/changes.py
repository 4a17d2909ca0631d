"""Changes of policy objects, and of what a workload requests. A list of them is one remedy."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import At, Path
from policygen.kubernetes.core import TolerationView
from policygen.kubernetes.kueue_workloads import PodSetTemplate, PodSetView, WorkloadView
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mappings
from policygen.kubernetes.workloads import Container, PodSpec, Resources


class FieldChange(Struct, frozen=True):
    """Another value of a field of a policy object. None: the field is not set."""

    kind: str
    namespace: str
    name: str
    path: Path
    before: Any
    after: Any
    of: str = ""
    """What a quota or limit counts: `nvidia.com/gpu in flavor a100`."""
    group: str | None = None
    """The API group, for kinds that several groups have, such as Job; None: of any group."""
    place: str = ""
    """File and line of the field, or of the part of the object that exists: `queues.yaml:12`."""

    def changes(self, it: Object) -> bool:
        """Whether it is a change of this object."""
        named = (self.kind, self.namespace, self.name) == it.identity[1:]
        return named and self.group in (None, it.group)


class ObjectAdded(Struct, frozen=True):
    """An object to create."""

    data: dict[str, Any]


class SpecEdit(Struct, frozen=True):
    """Another value of a field of a spec."""

    kind: str
    """Team or ResourcePool."""
    name: str
    pool: str
    """Of the quota of a team."""
    field: str
    profile: str
    """The MIG profile of an amount; empty: the pool has one resource."""
    before: str
    after: str
    at: At
    place: str = ""
    """File and line: `teams.yaml:12`."""


class SpecChange(Struct, frozen=True):
    """Other values of fields of a spec, and the fields of rendered objects that follow from them."""

    edits: tuple[SpecEdit, ...]
    effects: tuple[FieldChange, ...]


class PodsChange(Struct, frozen=True):
    """Another number of pods."""

    pod_set: str
    before: int
    after: int


class FewestPodsChange(Struct, frozen=True):
    """A Job may run with fewer pods (the annotation kueue.x-k8s.io/job-min-parallelism)."""

    pod_set: str
    before: int
    """The fewest pods until now: all of them without the annotation."""
    after: int
    pods: int
    """All of them."""


class RequestChange(Struct, frozen=True):
    """Another request of each pod, in Kueue's unit of the resource. 0 removes it."""

    pod_set: str
    resource: str
    before: int
    after: int


class QueueChange(Struct, frozen=True):
    """Another LocalQueue."""

    before: str
    after: str


class PriorityChange(Struct, frozen=True):
    """Another priority, by a class of Kueue or Kubernetes."""

    before: int
    after: int
    class_name: str
    """Empty: no class has this value yet."""
    of_pods: bool = False
    """Whether it is the PriorityClass of its pods, and not one of Kueue."""
    of_spec: bool = False
    """Whether a spec renders the classes."""


class TolerationAdded(Struct, frozen=True):
    """A toleration for the pods."""

    pod_set: str
    toleration: TolerationView


class SelectorChange(Struct, frozen=True):
    """Another value of a label in the node selector. None: the label is not selected."""

    pod_set: str
    key: str
    before: str | None
    after: str | None


class AffinityRemoved(Struct, frozen=True):
    """The pods have no required node affinity any more."""

    pod_set: str


class ConstraintRemoved(Struct, frozen=True):
    """The pods have no required spread constraint, or no required affinity to pods, any more."""

    pod_set: str
    field: str
    """`topologySpreadConstraints`, `podAffinity` or `podAntiAffinity`."""


PodSetChange = (
    PodsChange
    | RequestChange
    | TolerationAdded
    | SelectorChange
    | AffinityRemoved
    | ConstraintRemoved
)
"""A change of the pods of one pod set."""
OwnChange = PodSetChange | FewestPodsChange | QueueChange | PriorityChange
"""A change that the owner of the workload can make."""
PolicyChange = FieldChange | ObjectAdded | SpecChange
"""A change of objects that other workloads depend on."""
Change = OwnChange | PolicyChange


def applied(objects: Sequence[Object], changes: Iterable[Change]) -> list[Object]:
    """The objects after the changes of policy."""
    found = {(it.kind, it.namespace, it.name): it for it in objects}
    for change in in_objects(changes):
        if isinstance(change, FieldChange) and change.kind != "Workload":
            key = change.kind, change.namespace, change.name
            old = found[key]
            found[key] = replace(old, data=with_value(old.data, change.path, change.after))
        elif isinstance(change, ObjectAdded):
            made = Object.read(change.data, At(-1))
            if made is not None:
                found[made.kind, made.namespace, made.name] = made
    return list(found.values())


def in_objects(changes: Iterable[Change]) -> Iterator[Change]:
    """The changes, with those of rendered objects instead of those of a spec."""
    for it in changes:
        if isinstance(it, SpecChange):
            yield from it.effects
        else:
            yield it


def quota_path(object_: Object, flavor: str, resource: str) -> Path | None:
    """Where an object has the quota of a resource in a flavor."""
    for i, group in enumerate(mappings(object_.data, "spec", "resourceGroups")):
        for j, one in enumerate(mappings(group, "flavors")):
            for k, it in enumerate(mappings(one, "resources")):
                if one.get("name") == flavor and it.get("name") == resource:
                    return "spec", "resourceGroups", i, "flavors", j, "resources", k
    return None


def with_value(data: Any, path: Path, value: Any) -> Any:
    """A copy of the data with another value of a field; None removes it."""
    if not path:
        return value
    key, *rest = path
    if isinstance(data, list):
        index = int(key)
        return [
            with_value(it, tuple(rest), value) if i == index else it for i, it in enumerate(data)
        ]
    found = dict(data or {})
    if value is None and not rest:
        found.pop(str(key), None)
    else:
        found[str(key)] = with_value(found.get(str(key)), tuple(rest), value)
    return found


def asking(fields: WorkloadView, changes: Iterable[Change]) -> WorkloadView:
    """What the workload asks for after the changes of its owner."""
    for change in changes:
        match change:
            case QueueChange(after=name):
                fields = replace(fields, queue_name=name)
            case PriorityChange(after=value):
                fields = replace(fields, priority=value)
            case FieldChange(kind="Workload", after=active):
                fields = replace(fields, active=active)
            case FieldChange() | ObjectAdded() | SpecChange():
                pass
            case _:
                sets = tuple(
                    _pod_set(it, change) if it.name == change.pod_set else it
                    for it in fields.pod_sets
                )
                fields = replace(fields, pod_sets=sets)
    return fields


def _pod_set(pods: PodSetView, change: OwnChange) -> PodSetView:
    if isinstance(change, PodsChange):
        return replace(pods, count=change.after)
    if isinstance(change, FewestPodsChange):
        return replace(pods, min_count=change.after)
    return replace(pods, template=PodSetTemplate(pod_spec(pods.template.spec, change)))


def pod_spec(spec: PodSpec, change: OwnChange) -> PodSpec:
    """A pod spec after a change."""
    match change:
        case RequestChange(resource=resource, before=before, after=after):
            unit = 1000 if resource == "cpu" else 1
            return _less(spec, resource, Fraction(before - after, unit))
        case TolerationAdded(toleration=one):
            return replace(spec, tolerations=(*spec.tolerations, one))
        case SelectorChange(key=key, after=value):
            rest = {name: it for name, it in spec.node_selector.items() if name != key}
            return replace(spec, node_selector=rest if value is None else {**rest, key: value})
        case AffinityRemoved():
            return replace(spec, affinity=_without(spec.affinity, "nodeAffinity"))
        case ConstraintRemoved(field="topologySpreadConstraints"):
            soft = (
                it
                for it in spec.topology_spread_constraints
                if it.get("whenUnsatisfiable") == "ScheduleAnyway"
            )
            return replace(spec, topology_spread_constraints=tuple(soft))
        case ConstraintRemoved(field=field):
            return replace(spec, affinity=_without(spec.affinity, field))
    return spec


def _without(affinity: Mapping[str, Any], part: str) -> dict[str, Any]:
    found = dict(affinity)
    one = found.get(part)
    if isinstance(one, dict):
        found[part] = {key: it for key, it in one.items() if key != REQUIRED}
    return found


def _less(spec: PodSpec, resource: str, amount: Fraction) -> PodSpec:
    """The spec in which the container that requests the most of a resource requests less."""
    index = max(
        range(len(spec.containers)),
        key=lambda i: _requested(spec.containers[i], resource),
        default=None,
    )
    if index is None:
        return spec
    one = spec.containers[index]
    left = _requested(one, resource) - amount
    resources = Resources(
        _set(one.resources.requests, resource, left), _set(one.resources.limits, resource, left)
    )
    containers = list(spec.containers)
    containers[index] = replace(one, resources=resources)
    return replace(spec, containers=tuple(containers))


def _requested(container: Container, resource: str) -> Fraction:
    resources = container.resources
    return resources.requests.get(resource, resources.limits.get(resource, Fraction(0)))


def _set(amounts: Mapping[str, Fraction], resource: str, amount: Fraction) -> dict[str, Fraction]:
    found = dict(amounts)
    if resource in found:
        if amount > 0:
            found[resource] = amount
        else:
            del found[resource]
    return found
