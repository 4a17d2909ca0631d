"""How many pods of a template run at once on nodes, by their room and by the pods' own topologies.

Source: pkg/scheduler/framework/plugins/{podtopologyspread,interpodaffinity}/filtering.go of
Kubernetes 1.36.3. Nodes count as empty.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Path
from policygen.core.names import HOSTNAME
from policygen.kubernetes.core import LabelSelector, Requirement
from policygen.kubernetes.node_filters import REQUIRED, Demand
from policygen.kubernetes.node_groups import Node, NodeGroup, NodeSize, Stated
from policygen.kubernetes.node_index import Bits, NodeIndex
from policygen.kubernetes.untyped import (
    integer,
    keyed_texts,
    mapping,
    mappings,
    numbered,
    text,
    texts,
)
from policygen.kubernetes.workloads import PodSpec

_OTHER_PODS = ("namespaces", "namespaceSelector", "matchLabelKeys", "mismatchLabelKeys")
"""Fields by which a term selects pods of other namespaces, or not all equal pods."""


class Room(Struct, frozen=True):
    """The most pods that run at once."""

    pods: int
    nodes: int
    """The nodes that take the pods."""
    path: Path = ()
    """The constraint that bounds the pods, below the pod spec; (): the resources of the nodes."""
    key: str = ""
    """The label of its domains."""
    domains: int = 0
    """The domains with a node that takes the pods."""
    closed: int = 0
    """Further domains that a spread constraint counts, without such a node."""
    fewest: int = 0
    """The minDomains of a spread constraint, if there are fewer domains."""
    only: str = ""
    """A label, `key: value`, of exactly the nodes that take the pods, if a spread constraint counts others."""
    relaxed: int = 0
    """With `fewest` or `closed`: the room if minDomains is `domains`, and nodes outside these do not count."""
    short: str = ""
    """The resource that runs out first, without a constraint."""


class EqualPods(Struct, frozen=True, eq=False):
    """Equal pods."""

    spec: PodSpec
    labels: Mapping[str, str]
    """All their labels with known values."""
    demand: Demand


def room(pods: EqualPods, index: NodeIndex, enough: int) -> Room | None:
    """The room for pods on all nodes; None: unknown, or there is room for `enough` pods."""
    it = pods.demand
    index = index.of(it)
    taking = index.takers(it)
    if not taking:
        return Room(0, 0)
    if not _has_topology(pods.spec) and index.has_room(it, taking, enough):
        return None
    groups = index.nodes.groups(it.keys)
    takers = [group for group in groups if group.bits & taking]
    total = count = 0
    for group in takers:
        low = _least(it, group) * group.count
        most = _together(it, group)
        if low >= enough and most is None:
            total, count = total + low, count + group.count
            continue
        held_by_group = 0
        for size in group.sizes:
            held = size.holds(it.requests)
            if held is None:
                return None
            held_by_group += held * size.count
            count += size.count if held else 0
        total += held_by_group if most is None else min(held_by_group, most)
    found = [Room(total, count), *_apart(pods, takers, count)]
    found += _spread(pods, index, takers, enough)
    least = min(found, key=lambda room: room.pods)
    if least.pods >= enough:
        return None
    if least.relaxed:
        others = (each.relaxed or each.pods for each in found)
        least = replace(least, relaxed=min(others))
    return least if least.path else replace(least, short=_short(it, takers))


def _short(it: Demand, takers: Sequence[NodeGroup]) -> str:
    """The resource of which the nodes together have room for the fewest pods."""
    rooms: dict[str, Fraction] = {}
    for group in takers:
        for size in group.sizes:
            for name, amount in (*it.requests, ("pods", Fraction(1))):
                if (have := size.amount(name)) is not None and not group.nodes[0].together.get(
                    name
                ):
                    rooms[name] = rooms.get(name, Fraction(0)) + have / amount * size.count
        for node in group.nodes:
            for name, amount in it.requests:
                if name in node.together:
                    rooms[name] = rooms.get(name, Fraction(0)) + node.together[name] / amount
    return min(rooms, key=lambda name: (rooms[name], "/" not in name), default="")


def _together(it: Demand, group: NodeGroup) -> int | None:
    """The pods for which the amounts of all nodes together are enough; None: these are not known."""
    if group.stated is not Stated.PART or not any(node.together for node in group.nodes):
        return None
    total = 0
    for node in group.nodes:
        bounds = [
            node.together[name] // amount for name, amount in it.requests if name in node.together
        ]
        if not bounds:
            return None
        total += min(bounds)
    return total


def _least(it: Demand, group: NodeGroup) -> int:
    """The pods that every node of a group has room for, at least."""
    return group.least.holds(it.requests) or 0


def _values(it: Demand, takers: Sequence[NodeGroup], key: str) -> set[str | None]:
    """The values of a label of the nodes that have room for a pod; None: a node without the label."""
    found: set[str | None] = set()
    for group in takers:
        if _least(it, group):
            found |= group.domains(key).keys()
        else:
            found.update(node.labels.get(key) for node in group.nodes if _held(it, node))
    return found


def _hosts(it: Demand, groups: Sequence[NodeGroup], key: str) -> Iterator[tuple[int, int]]:
    """Nodes whose kubelet gives each a value of its own for a label: the pods for one, and the number."""
    for group in groups if key == HOSTNAME else ():
        if group.stated is not Stated.ALL and None in group.domains(key):
            for node in group.nodes:
                if key not in node.labels:
                    yield _held(it, node) // node.count, node.count


def _is_known(group: NodeGroup, key: str) -> bool:
    """Whether the domains of the nodes are known."""
    return key == HOSTNAME or None not in group.domains(key) or group.knows(key)


def _apart(pods: EqualPods, takers: Sequence[NodeGroup], count: int) -> Iterator[Room]:
    """One pod in each domain, if the pods repel each other. Nodes outside all domains take any."""
    it = pods.demand
    for i, term in numbered(pods.spec.affinity, "podAntiAffinity", REQUIRED):
        other = term.get("namespaces") or term.get("namespaceSelector") is not None
        key = text(term, "topologyKey")
        if other or term.get("mismatchLabelKeys") or not _selects(term, pods.labels):
            continue
        if not all(_is_known(group, key) for group in takers):
            continue
        domains = len(_values(it, takers, key) - {None})
        domains += sum(number for held, number in _hosts(it, takers, key) if held)
        outside = [
            node
            for group in takers
            if group.knows(key) and None in group.domains(key)
            for node in group.nodes
            if key not in node.labels
        ]
        path: Path = ("affinity", "podAntiAffinity", REQUIRED, i)
        yield Room(domains + sum(_held(it, node) for node in outside), count, path, key, domains)


def repelled(pods: EqualPods, others: EqualPods) -> Iterator[tuple[Path, str]]:
    """The required anti-affinity of pods that certainly selects others of their workload: term and key."""
    for i, term in numbered(pods.spec.affinity, "podAntiAffinity", REQUIRED):
        unknown = any(term.get(name) is not None for name in _OTHER_PODS)
        if not unknown and _selects(term, others.labels):
            yield ("affinity", "podAntiAffinity", REQUIRED, i), text(term, "topologyKey")


def domains(demands: Sequence[Demand], index: NodeIndex, key: str) -> int | None:
    """How many values of a label the nodes have that take a pod of any demand; None: unknown, or unbounded.

    Nodes without the label take any number of pods that repel each other.
    """
    values: set[str] = set()
    hosts: dict[int, int] = {}
    for it in demands:
        taking = index.takers(it)
        for group in index.of(it).nodes.groups(it.keys):
            if not group.bits & taking:
                continue
            if not _is_known(group, key):
                return None
            for node in group.nodes:
                value = node.labels.get(key)
                if not _held(it, node):
                    continue
                if value is not None:
                    values.add(value)
                elif key == HOSTNAME and group.stated is not Stated.ALL:
                    hosts[id(node)] = node.count
                else:
                    return None
    return len(values) + sum(hosts.values())


def in_one_domain(pods: EqualPods, index: NodeIndex) -> Iterator[tuple[Mapping[str, Any], Room]]:
    """For each required affinity of pods to themselves: the term, and the room of the largest domain.

    The first pod starts anywhere, and the others only where a pod that the term selects runs. Terms whose
    domains are not known are skipped.
    """
    it = pods.demand
    index = index.of(it)
    taking = index.takers(it)
    for i, term in numbered(pods.spec.affinity, "podAffinity", REQUIRED):
        others = any(term.get(name) is not None for name in _OTHER_PODS)
        key = text(term, "topologyKey")
        if others or not taking or not _selects(term, pods.labels):
            continue
        found: Counter[object] = Counter()
        for bit, node in index.entries(taking):
            size = NodeSize(node.allocatable, 1, node.stated)
            value: object = node.labels.get(key)
            if value is None and (key != HOSTNAME or node.stated is Stated.ALL):
                break
            held = size.holds(it.requests)
            if held is None:
                break
            found[bit if value is None else value] += held * (1 if value is None else node.count)
        else:
            path: Path = ("affinity", "podAffinity", REQUIRED, i)
            yield term, Room(max(found.values()), taking.bit_count(), path, key, len(found))


def selected(term: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a term may select pods with these labels, to which a controller adds labels with a prefix."""
    selector = mapping(term, "labelSelector")
    keys = [*mapping(selector, "matchLabels")]
    keys += [text(one, "key") for one in mappings(selector, "matchExpressions")]
    return any("/" in key for key in keys) or _selects(term, labels)


def _has_topology(spec: PodSpec) -> bool:
    """Whether more than the resources of nodes can bound the number of pods."""
    apart = mappings(spec.affinity, "podAntiAffinity", REQUIRED)
    return bool(apart or spec.topology_spread_constraints)


def _spread(
    pods: EqualPods, index: NodeIndex, takers: Sequence[NodeGroup], enough: int
) -> Iterator[Room]:
    """The smallest domain bounds the others, also if it takes no pod at all."""
    it = pods.demand
    count = sum(group.count for group in takers)
    hard = [
        (i, constraint)
        for i, constraint in enumerate(pods.spec.topology_spread_constraints)
        if constraint.get("whenUnsatisfiable") == "DoNotSchedule"
    ]
    keys = [text(constraint, "topologyKey") for _, constraint in hard]
    for i, constraint in hard:
        key, skew = text(constraint, "topologyKey"), integer(constraint.get("maxSkew"))
        if skew is None or not _selects(constraint, pods.labels):
            continue
        if len(_values(it, takers, key) - {None}) >= enough:
            continue  # each of them takes one
        of_takers = sum(group.bits for group in takers)
        counting = _counting(constraint, it, index) | of_takers
        counted = [group for group in index.nodes.groups(it.keys) if group.bits & counting]
        if not all(_is_known(group, each) for group in counted for each in keys):
            continue
        fewest = integer(constraint.get("minDomains")) or 1
        values = {value for group in counted for value in group.domains(key)} - {None}
        if len(keys) == 1 and len(values) >= fewest and key != HOSTNAME:
            low = _low(it, takers, key)
            if all(low[each] * len(values) >= enough for each in values):
                continue  # each domain has room for its share
        slots = _slots(it, counted, of_takers, (key, *keys))
        domains = slots.total()
        if not domains:
            continue
        least = 0 if domains < fewest else min(slots)
        most = sum(min(each, least + skew) * number for each, number in slots.items())
        closed = slots[0]
        path: Path = ("topologySpreadConstraints", i)
        few = fewest if domains < fewest else 0
        relaxed, only = 0, ""
        if (few or closed) and domains > closed:
            del slots[0]
            least = min(slots)
            relaxed = sum(min(each, least + skew) * number for each, number in slots.items())
            if closed and constraint.get("nodeAffinityPolicy") != "Ignore":
                taking = index.takers(it)
                only = _only(index, taking, counting & ~taking)
        yield Room(most, count, path, key, domains - closed, closed, few, only, relaxed)


def _only(index: NodeIndex, takers: Bits, others: Bits) -> str:
    """A label that all nodes of one set have, and none of another; empty if there is none."""
    found = set.intersection(*(set(node.labels.items()) for _, node in index.entries(takers)))
    for _, node in index.entries(others):
        found -= node.labels.items()
    key, value = min(found, default=("", ""))
    return f"{key}: {value}" if key else ""


def _slots(
    it: Demand, counted: Sequence[NodeGroup], takers: Bits, keys: Sequence[str]
) -> Counter[int]:
    """The number of values of the first of these labels, by the pods that their nodes have room for.

    Only nodes with all labels count.
    """
    pods: dict[str, int] = {}
    found: Counter[int] = Counter()
    for group in counted:
        takes = group.bits & takers
        own_host = group.stated is not Stated.ALL  # each kubelet writes its own
        for node in group.nodes:
            if not all(each in node.labels or (own_host and each == HOSTNAME) for each in keys):
                continue
            held = _held(it, node) if takes else 0
            value = node.labels.get(keys[0])
            if value is None:
                found[held // node.count] += node.count
            else:
                pods[value] = pods.get(value, 0) + held
    found.update(pods.values())
    return found


def _low(it: Demand, takers: Sequence[NodeGroup], key: str) -> Counter[str | None]:
    """The pods that the nodes of each value have room for, at least."""
    found: Counter[str | None] = Counter()
    for group in takers:
        least = _least(it, group)
        for value, nodes in group.domains(key).items() if least else ():
            found[value] += least * nodes
    return found


def _counting(constraint: Mapping[str, Any], it: Demand, index: NodeIndex) -> Bits:
    """The nodes whose domains a spread constraint counts, also if they do not take the pods."""
    found = index.all
    if constraint.get("nodeAffinityPolicy") != "Ignore":
        found &= index.selected(it)
    if constraint.get("nodeTaintsPolicy") == "Honor":
        found &= index.tolerated(it)
    return found


def _held(it: Demand, node: Node) -> int:
    return (NodeSize(node.allocatable, 1, node.stated).holds(it.requests) or 0) * node.count


def _selects(term: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether the selector of a term certainly selects pods with these labels; without one it does not.

    A controller may add further labels with a prefix.
    """
    selector = term.get("labelSelector")
    if not isinstance(selector, dict):
        return False
    expressions = tuple(
        Requirement(text(one, "key"), text(one, "operator"), texts(one, "values"))
        for one in mappings(selector, "matchExpressions")
    )
    if any("/" in one.key and one.key not in labels for one in expressions):
        return False
    return LabelSelector(dict(keyed_texts(selector, "matchLabels")), expressions).selects(labels)
