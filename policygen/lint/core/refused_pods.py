"""Words about why a node takes no pod: the field of the pod spec, what the nodes have, and a remedy."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from policygen.core.amounts import amount_of, at_most, readable
from policygen.core.finding import Path
from policygen.core.names import NODE_GROUP, NODE_NAME
from policygen.core.quoting import as_yaml, bare, listed
from policygen.core.suggest import Names, suggest
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.core import TaintView
from policygen.kubernetes.node_filters import (
    Cordoned,
    Differs,
    Miss,
    NoDomain,
    NoTerm,
    NotTolerated,
    OtherName,
    OtherVolume,
    Placed,
    TooLittle,
    VolumeFilter,
)
from policygen.kubernetes.node_groups import REPLACED_LABELS, USUAL_LABELS, Node, meant_label
from policygen.kubernetes.runtime_classes import FIELD
from policygen.kubernetes.workloads import PodSpec
from policygen.lint.core.daemon_pods import beside
from policygen.lint.core.near_tolerations import near_toleration

_LEAST_BYTES = 1 << 26
"""Fewer bytes of memory for each cpu are not plausible."""
_MOST_VALUES = 3
"""The number of values of a label up to which a remedy names all of them."""
_ELSEWHERE = "mount another claim, or add nodes that match the volume"
_VOLUME_ADVICE = {
    VolumeFilter.AFFINITY: _ELSEWHERE,
    VolumeFilter.ZONE: _ELSEWHERE,
    VolumeFilter.TOPOLOGY: "write another storageClassName, or add nodes that match the allowedTopologies of the class",
}


class Words(NamedTuple):
    """The parts of a message."""

    path: Path
    """The field below the pod spec that a user changes."""
    fact: str
    """About nodes, as a plural: `have taint a:NoSchedule`."""
    advice: str


def words(miss: Miss, spec: PodSpec, nodes: Iterable[Node], values: Sequence[str] = ()) -> Words:
    """Why nodes refuse a pod. `nodes` are all nodes, for the names of what they offer.

    `values` are those of the label that differs, of all nodes that are equally near.
    """
    match miss:
        case Cordoned():
            return Words((), "are cordoned", "uncordon the nodes")
        case OtherName(required):
            advice = suggest(required, [it.name for it in nodes], "node")
            return Words(("nodeName",), f"have other names than {bare(required)}", advice)
        case NotTolerated(taint):
            return _of_taint(taint, spec)
        case NoTerm(path):
            fact = "match no term of the node affinity"
            return Words(path, fact, "write a term with matchExpressions")
        case NoDomain(domain):
            # The step before the number of the term: podAffinity, or topologySpreadConstraints.
            field = domain.path[1] if domain.path[0] == "affinity" else domain.path[0]
            meant = near_label(domain.key, nodes)
            fact = f"lack label {domain.key}, which {field} needs"
            write = f"write topologyKey: {meant}" if meant else "write another topologyKey"
            return Words(domain.path, fact, f"label the nodes, or {write}")
        case OtherVolume(volume, differs):
            have = " and ".join(_of_volume(it, volume.owner) for it in differs)
            fact = have or f"match no term of the node affinity of {volume.owner}"
            return Words(volume.path, fact, _VOLUME_ADVICE[volume.filter])
        case Differs(placed, value) if placed.requirement.key == NODE_GROUP and not placed.path:
            return _of_group(placed, value, spec, nodes)
        case Differs(placed, value):
            return Words(placed.path, _fact(placed, value), _advice(placed, value, nodes, values))
        case TooLittle():
            return Words(request_path(spec, miss.resource), *_amounts(miss, spec, nodes))


def _of_taint(taint: TaintView, spec: PodSpec) -> Words:
    """The toleration that was meant for a taint, or else that there is no toleration."""
    near = near_toleration(spec.tolerations, [taint], [taint])
    have = f"have taint {named(taint)}"
    if near is None:
        fact = f"{have}, which the pods do not tolerate"
        return Words(("tolerations",), fact, "add a toleration for this taint")
    written = f"{near.field} {bare(near.written)}" if near.written else f"no {near.field}"
    return Words(near.path, f"{have}, but the toleration of the pods has {written}", near.advice)


def _of_group(placed: Placed, value: str | None, spec: PodSpec, nodes: Iterable[Node]) -> Words:
    """The nodes are outside the groups of the Queue; proposes the labels that the nodes of its groups have."""
    groups, group = [*map(bare, placed.requirement.values)], bare(value or "")
    own = f"have {NODE_GROUP}={group}"
    fact = "the Queue has no affinity to a node group"
    advice = f"add {group} to nodeGroupAffinity of the Queue"
    if value is None:
        own, advice = f"lack label {NODE_GROUP}", f"label the nodes {NODE_GROUP}={listed(groups)}"
    if groups:
        noun = "node groups" if len(groups) > 1 else "node group"
        fact = f"the Queue only has an affinity to {noun} {listed(groups, 'and')}"
    inside = [it for it in nodes if it.labels.get(NODE_GROUP) in placed.requirement.values]
    path: Path = ()
    for key, selected in spec.node_selector.items():
        values = sorted({it.labels[key] for it in inside if key in it.labels})
        if values and selected not in values:
            right = listed([*map(as_yaml, values[:_MOST_VALUES])])
            path, advice = (
                ("nodeSelector", key),
                f"write {key}: {right} in nodeSelector, or {advice}",
            )
            break
    return Words(path, f"{own}, but {fact}", advice)


def request_path(spec: PodSpec, resource: str) -> Path:
    """The largest request or limit of a resource, below the pod spec; of equal ones, the first."""
    best: tuple[Fraction, Path] | None = None
    for part, found in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for i, container in enumerate(found):
            resources = container.resources
            for field, amounts in (("requests", resources.requests), ("limits", resources.limits)):
                amount = amounts.get(resource)
                if amount is not None and (best is None or amount > best[0]):
                    best = amount, (part, i, "resources", field, resource)
    if best is not None:
        return best[1]
    return ("resources",) if resource in spec.pod_level() else ("containers",)


def _elsewhere(spec: PodSpec, resource: str, most: Fraction) -> str:
    """The containers besides that of `request_path` that exceed an amount alone, each of which must be changed."""
    at = request_path(spec, resource)[:2]
    found = [
        f"{kind} {container.name}"
        for part, kind, containers in (
            ("containers", "container", spec.containers),
            ("initContainers", "init container", spec.init_containers),
        )
        for i, container in enumerate(containers)
        if (part, i) != at and container.requests.get(resource, 0) > most
    ]
    return f" (also in {listed(found, 'and')})" if found else ""


def named(taint: TaintView) -> str:
    """A taint as kubectl writes it: `nvidia.com/gpu=present:NoSchedule`."""
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


def _of_volume(differs: Differs, owner: str) -> str:
    it = differs.placed.requirement
    if differs.value is None:
        return f"lack label {it.key}, which {owner} requires"
    have = f"have {it.key}={bare(differs.value)}"
    if it.operator == "In":
        return f"{have}, but {owner} requires {listed([bare(each) for each in it.values], 'or')}"
    return f"{have}, which {owner} excludes"


def _fact(placed: Placed, value: str | None) -> str:
    it = placed.requirement
    key = "name" if it.key == NODE_NAME else it.key
    if value is None:
        why = ", which the RuntimeClass requires" if placed.path == FIELD else ""
        return f"lack label {key}{why}"
    required = listed([bare(each) or '""' for each in it.values]) if it.values else ""
    if placed.path == FIELD:
        return f"have {key}={bare(value)}, but the RuntimeClass requires {required}"
    have = f"have {key}={bare(value)}"
    match it.operator:
        case "In":
            return f"{have}, not {required}"
        case "Gt":
            return f"{have}, which is not above {required}"
        case "Lt":
            return f"{have}, which is not below {required}"
    return f"{have}, which the pods exclude"


def _advice(placed: Placed, value: str | None, nodes: Iterable[Node], values: Sequence[str]) -> str:
    it = placed.requirement
    field = "nodeSelector" if placed.path[:1] == ("nodeSelector",) else "nodeAffinity"
    if placed.path == FIELD:
        return "label the nodes, or write another runtimeClassName"
    if not placed.path:
        return f"label the nodes, correct {it.key} in the flavor of the queue, or change what the pods select"
    if value is None and (meant := near_label(it.key, nodes)):
        return f"write {meant} in {field}"
    if value is None or it.operator != "In":
        return f"change {it.key} in {field}, or label the nodes"
    right = as_yaml(value)
    if field == "nodeAffinity" and 1 < len(values) <= _MOST_VALUES:
        some = "both" if len(values) == 2 else "several"
        right = f"{listed([as_yaml(each) for each in values], 'or')} (or {some})"
    return f"write {right} in {field}, or label the nodes"


def near_label(key: str, nodes: Iterable[Node]) -> str:
    """The label of nodes that a key looks like; empty: there is none, or a node has this key."""
    labels = {name for node in nodes for name in node.labels}
    if key in labels:
        return ""
    new = REPLACED_LABELS.get(key, "")
    if new in labels:
        return new
    if meant := meant_label(key, sorted(labels.union(USUAL_LABELS))):
        return meant
    similar = Names(labels).meant(key)
    domain, _, name = key.rpartition("/")
    same, _, found = similar.rpartition("/")
    # An equal domain makes different names similar.
    return similar if domain != same or not domain or Names([found]).meant(name) else ""


def _amounts(miss: TooLittle, spec: PodSpec, nodes: Iterable[Node]) -> tuple[str, str]:
    name, have = miss.resource, miss.have
    nodes = tuple(nodes)
    if name == "pods":
        return "have room for 0 pods", "raise maxPods of the kubelet"
    used = beside((it for it in nodes if it.allocatable.get(name) == have), name)
    if not have and used:
        return f"have no {name} left{used}", f"remove {name} from one of the two"
    if not have:
        return f"lack {name}", _offer(name, nodes)
    requested = readable(name, miss.requested, have)
    fact = (
        f"have at most {amount_of(name, have, miss.requested)}{used}, but a pod requests {requested}"
        f"{_elsewhere(spec, name, have)}"
    )
    if is_one(name):
        return fact, f"use more pods with at most {readable(name, have)} {name} each"
    if name == "memory" and any(
        _lacks_unit(it) for it in nodes if it.allocatable.get(name) == have
    ):
        return fact, "correct the unit in status.allocatable.memory of the nodes, such as Ki"
    share = _share(miss, spec, nodes)
    all_used = "" if share is None else f" ({at_most(name, share)} to leave no GPU unused)"
    return fact, f"request at most {at_most(name, have)}{all_used}, or add larger nodes"


def _share(miss: TooLittle, spec: PodSpec, nodes: Iterable[Node]) -> Fraction | None:
    """The part of the resource that belongs to the pod's GPUs; None if it has all GPUs of a node, or none."""
    for node in nodes:
        if node.allocatable.get(miss.resource) != miss.have:
            continue
        for name, amount in spec.requests.items():
            offered = node.allocatable.get(name)
            if is_one(name) and offered and 0 < amount < offered:
                return miss.have * amount / offered
    return None


_PAGES = "hugepages-"
"""The beginning of the resources of Kubernetes that nodes can lack."""


def _offer(name: str, nodes: Iterable[Node]) -> str:
    """Advice about a resource of which the nodes have none."""
    amounts = [it.allocatable[name] for it in nodes if name in it.allocatable]
    if not amounts:
        offered = {
            each
            for it in nodes
            for each in it.allocatable
            if "/" in each or each.startswith(_PAGES)
        }
        return suggest(name, offered, "extended resource")
    advice = [f"select nodes that offer {name}"] if any(amounts) else []
    if not all(amounts):
        advice.append(f"find out why nodes list {name} with 0, for example in their device plugin")
    return ", or ".join(advice)


def _lacks_unit(node: Node) -> bool:
    """Whether the memory of a node is so small beside its cpu that its unit is certainly missing."""
    return node.allocatable["memory"] < _LEAST_BYTES * node.allocatable.get("cpu", 1)
