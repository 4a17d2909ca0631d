"""kube-scheduler's filters: why a node does not take a pod, even if it is empty.

Source: pkg/scheduler/framework/plugins/{nodeunschedulable,nodename,tainttoleration,nodeaffinity,
noderesources,volumebinding,volumezone} of Kubernetes 1.36.3, and component-helpers/scheduling/corev1/nodeaffinity.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any

from msgspec import Struct

from policygen.core.finding import Path
from policygen.core.names import HOSTNAME, NODE_NAME
from policygen.core.tolerations import tolerates
from policygen.kubernetes.core import Requirement, TaintView, TolerationView
from policygen.kubernetes.node_groups import HOST_PORT, NodeGroup, NodeSize
from policygen.kubernetes.untyped import mapping, numbered, text, texts
from policygen.kubernetes.workloads import PodSpec

EXECUTE = "NoExecute"
HARD = ("NoSchedule", EXECUTE)
"""Effects of taints that keep pods without a toleration away."""
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
CORDON = TaintView("node.kubernetes.io/unschedulable", "NoSchedule")
"""What a pod must tolerate to be placed on a cordoned node."""
_AFFINITY: Path = ("affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")


class Placed(Struct, frozen=True):
    """A requirement for a label of nodes, or for their name."""

    path: Path
    """Its place below the pod spec; () if another object adds it."""
    requirement: Requirement


class Term(Struct, frozen=True):
    """One term of a node affinity; it matches if all its requirements hold, and it has any."""

    path: Path
    requirements: tuple[Placed, ...]


class Domain(Struct, frozen=True):
    """A label by which the pod requires that nodes are in a domain."""

    path: Path
    key: str


class VolumeFilter(Enum):
    """The filter that refuses a node because of a volume, with its words."""

    AFFINITY = "node(s) didn't match PersistentVolume's node affinity"
    """VolumeBinding, of a bound volume."""
    TOPOLOGY = "node(s) didn't find available persistent volumes to bind"
    """VolumeBinding, of a volume that will be created."""
    ZONE = "node(s) had no available volume zone"
    """VolumeZone."""


class Volume(Struct, frozen=True):
    """What a volume of the pod requires of a node: one of the terms matches."""

    path: Path
    owner: str
    """The PersistentVolume or StorageClass that requires it."""
    filter: VolumeFilter
    terms: tuple[Term, ...]


class Demand(Struct, frozen=True):
    """What a pod requires of one node."""

    requests: tuple[tuple[str, Fraction], ...]
    """By resource, sorted; without zeros."""
    selector: tuple[Placed, ...] = ()
    """Requirements that must all hold."""
    terms: tuple[Term, ...] | None = None
    """Of which one must match; None: no required node affinity."""
    tolerations: tuple[TolerationView, ...] = ()
    node_name: str = ""
    domains: tuple[Domain, ...] = ()
    """Labels that a node must have because the pod names them as topologies."""
    volumes: tuple[Volume, ...] = ()
    priority: int = 0
    """Of the pod, which can evict pods of a lower priority."""

    @property
    def keys(self) -> frozenset[str]:
        """The keys of labels that it reads, and NODE_NAME if it reads names."""
        found = {it.requirement.key for it in self.selector}
        of_volumes = (term for volume in self.volumes for term in volume.terms)
        for term in (*(self.terms or ()), *of_volumes):
            found.update(it.requirement.key for it in term.requirements)
        found.update(it.key for it in self.domains)
        return frozenset(found | {NODE_NAME}) if self.node_name else frozenset(found)


class Cordoned(Struct, frozen=True):
    """The node takes no new pods."""


class OtherName(Struct, frozen=True):
    """The pod names another node."""

    required: str


class NotTolerated(Struct, frozen=True):
    """The pod does not tolerate a taint."""

    taint: TaintView


class Differs(Struct, frozen=True):
    """A label, or the name, is not as the pod requires."""

    placed: Placed
    value: str | None
    """The value of the node; None: it has no such label."""


class NoTerm(Struct, frozen=True):
    """The node affinity has no term that can match a node."""

    path: Path


class OtherVolume(Struct, frozen=True):
    """A volume of the pod cannot be attached to the node."""

    volume: Volume
    differs: tuple[Differs, ...]
    """What differs from the nearest term; empty: no term can match a node."""


class TooLittle(Struct, frozen=True):
    """The node has too little of a resource, even if no pod runs there."""

    resource: str
    requested: Fraction
    have: Fraction


class NoDomain(Struct, frozen=True):
    """The node does not have a label that the pod names as a topology."""

    domain: Domain


Miss = Cordoned | OtherName | NotTolerated | Differs | NoTerm | TooLittle | OtherVolume | NoDomain
"""Why a node does not take a pod, in the order of kube-scheduler's filters."""


def demand(spec: PodSpec, requests: Mapping[str, Fraction]) -> Demand:
    """What pods with this spec require of a node. `requests` are those of the complete pod."""
    requests = {**requests, **dict.fromkeys(host_ports(spec), Fraction(1))}
    required = mapping(spec.affinity, "nodeAffinity").get(REQUIRED)
    return Demand(
        requests=tuple(sorted((name, it) for name, it in requests.items() if it > 0)),
        selector=tuple(
            Placed(("nodeSelector", key), Requirement(key, "In", (value,)))
            for key, value in spec.node_selector.items()
        ),
        terms=tuple(terms(required, _AFFINITY)) if isinstance(required, dict) else None,
        tolerations=spec.tolerations,
        node_name=spec.node_name,
        domains=tuple(_domains(spec)),
    )


def host_ports(spec: PodSpec) -> Iterator[str]:
    """The ports of the node that a pod uses on all addresses, as names of resources.

    With hostNetwork, every port is one. Source: pkg/scheduler/framework/plugins/nodeports.
    """
    for container in spec.containers:
        for port in container.ports:
            number = port.get("hostPort") or (spec.host_network and port.get("containerPort"))
            if number and port.get("hostIP") in (None, "", "0.0.0.0"):  # noqa: S104 - it is read
                protocol = port.get("protocol") or "TCP"
                yield f"{HOST_PORT}{number}{'' if protocol == 'TCP' else f'/{protocol}'}"


def misses(it: Demand, group: NodeGroup) -> tuple[Miss, ...]:
    """Why no node of a group takes the pod; empty: a node takes it, or may take it.

    `group` must have the keys of the demand. Of several sizes, the nearest is reported.
    """
    before, after = misses_beside_amounts(it, group)
    return (*before, *missing_amounts(it, group), *after)


def misses_beside_amounts(
    it: Demand, group: NodeGroup
) -> tuple[tuple[Miss, ...], tuple[Miss, ...]]:
    """Why no node of a group takes the pod, whatever it requests: in the filters before that of amounts, and after it."""
    return (*_by_node(it, group), *_by_labels(it, group)), tuple(_by_topology(it, group))


def missing_amounts(it: Demand, group: NodeGroup) -> Sequence[TooLittle]:
    """The resources of which the nearest size of a group has too little; empty if one size has enough."""
    every: list[Sequence[TooLittle]] = []
    for size in group.largest:
        short = list(too_little(it, size))
        if not short:
            return ()
        every.append(short)
    return min(every, key=_shortage) if len(every) > 1 else every[0]


def _by_topology(it: Demand, group: NodeGroup) -> Iterator[Miss]:
    for volume in it.volumes:
        differing = _nearest(volume.terms, group)
        if differing != []:
            yield OtherVolume(volume, tuple(differing or ()))
    for domain in it.domains if not it.node_name else ():
        if domain.key not in group.labels and group.knows(domain.key):
            yield NoDomain(domain)


def too_little(it: Demand, size: NodeSize) -> Iterator[TooLittle]:
    """The resources of which an empty node has less than the pod requests."""
    pods = size.amount("pods")
    if pods is not None and pods < 1:
        yield TooLittle("pods", Fraction(1), pods)
    for name, requested in it.requests:
        have = size.amount(name)
        if have is not None and have < requested:
            yield TooLittle(name, requested, have)


def hard_taints(it: Demand, taints: tuple[TaintView, ...]) -> Iterator[TaintView]:
    """The taints that keep the pod away. With nodeName, only the kubelet does, by NoExecute alone.

    Source: pkg/kubelet/lifecycle/predicate.go of Kubernetes 1.36.3.
    """
    effects = (EXECUTE,) if it.node_name else HARD
    for taint in taints:
        if taint.effect in effects and not any(tolerates(each, taint) for each in it.tolerations):
            yield taint


def _by_node(it: Demand, group: NodeGroup) -> Iterator[Miss]:
    if it.node_name:
        if group.labels.get(NODE_NAME, it.node_name) != it.node_name:
            yield OtherName(it.node_name)
    elif group.unschedulable and not any(tolerates(each, CORDON) for each in it.tolerations):
        yield Cordoned()
    for taint in hard_taints(it, group.taints):
        yield NotTolerated(taint)


def _by_labels(it: Demand, group: NodeGroup) -> Iterator[Miss]:
    yield from _differing(it.selector, group)
    if it.terms is None:
        return
    best = _nearest(it.terms, group)
    if best is None:
        yield NoTerm(_AFFINITY)
    else:
        yield from best


def _nearest(either: tuple[Term, ...], group: NodeGroup) -> list[Differs] | None:
    """What differs from the nearest term; empty: one matches; None: none can match a node."""
    best: list[Differs] | None = None
    for term in either:
        differing = list(_differing(term.requirements, group))
        if not differing and term.requirements:
            return []
        if differing and (best is None or len(differing) < len(best)):
            best = differing
    return best


def _differing(requirements: tuple[Placed, ...], group: NodeGroup) -> Iterator[Differs]:
    labels = group.labels
    for it in requirements:
        key = it.requirement.key
        if not it.requirement.holds(labels) and (key in labels or group.knows(key)):
            yield Differs(it, labels.get(key))


def terms(required: Mapping[str, Any], at: Path) -> Iterator[Term]:
    """The terms of a node selector, whose list has this path."""
    for i, term in numbered(required, "nodeSelectorTerms"):
        path: Path = (*at, i)
        found = (
            Placed((*path, part, j), _requirement(one))
            for part in ("matchExpressions", "matchFields")
            for j, one in numbered(term, part)
        )
        yield Term(path, tuple(found))


def _domains(spec: PodSpec) -> Iterator[Domain]:
    """Every node has a host name, so this label is not read: it would be another group for each node."""
    for i, constraint in enumerate(spec.topology_spread_constraints):
        key = text(constraint, "topologyKey")
        if constraint.get("whenUnsatisfiable") == "DoNotSchedule" and key not in ("", HOSTNAME):
            yield Domain(("topologySpreadConstraints", i, "topologyKey"), key)
    for i, term in numbered(spec.affinity, "podAffinity", REQUIRED):
        if (key := text(term, "topologyKey")) not in ("", HOSTNAME):
            path = ("affinity", "podAffinity", REQUIRED, i, "topologyKey")
            yield Domain(path, key)


def _requirement(data: Mapping[str, Any]) -> Requirement:
    key, operator = str(data.get("key", "")), str(data.get("operator", ""))
    values, written = texts(data, "values"), data.get("values")
    if operator == "In" and isinstance(written, list) and len(values) < len(written):
        return Requirement(key, "Exists", ())  # a value of a wrong type can mean any
    return Requirement(key, operator, values)


def _shortage(short: Sequence[TooLittle]) -> tuple[int, Fraction]:
    """Sorts sizes by how near they are: the fewest resources, then the least missing share."""
    missing = (1 - it.have / it.requested for it in short)
    return len(short), max(missing)
