"""How many pods of a template run at once on nodes, by their room and by the pods' own topologies.

Source: pkg/scheduler/framework/plugins/{podtopologyspread,interpodaffinity}/filtering.go of
Kubernetes 1.36.3. Nodes count as empty.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from policygen.core.finding import Path
from policygen.kubernetes.core import LabelSelector, Requirement
from policygen.kubernetes.node_filters import REQUIRED, Demand, Differs, NoTerm, hard_taints, misses
from policygen.kubernetes.node_groups import Node, NodeGroup, NodeSize, Stated
from policygen.kubernetes.untyped import integer, keyed_texts, mappings, numbered, text, texts
from policygen.kubernetes.workloads import PodTemplate


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


def room(
    template: PodTemplate, it: Demand, groups: Sequence[NodeGroup], enough: int
) -> Room | None:
    """The room for pods of a template; None: unknown, or there is room for `enough` pods.

    `groups` are all nodes.
    """
    takers = [group for group in groups if not misses(it, group)]
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
    found = [Room(total, count), *_apart(template, it, takers, count)]
    found += _spread(template, it, groups, takers, enough)
    least = min(found, key=lambda room: room.pods)
    return least if least.pods < enough else None


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


def _apart(
    template: PodTemplate, it: Demand, takers: Sequence[NodeGroup], count: int
) -> Iterator[Room]:
    """One pod in each domain, if the template repels its own pods. Nodes outside all domains take any."""
    for i, term in numbered(template.spec.affinity, "podAntiAffinity", REQUIRED):
        other = term.get("namespaces") or term.get("namespaceSelector") is not None
        key = text(term, "topologyKey")
        if other or term.get("mismatchLabelKeys") or not _selects(term, template.labels):
            continue
        outside = [group for group in takers if None in group.domains(key)]
        if all(group.knows(key) for group in outside):
            domains = len(_values(it, takers, key) - {None})
            nodes = (node for group in outside for node in group.nodes if key not in node.labels)
            path: Path = ("affinity", "podAntiAffinity", REQUIRED, i)
            yield Room(domains + sum(_held(it, node) for node in nodes), count, path, key, domains)


def _spread(
    template: PodTemplate,
    it: Demand,
    groups: Sequence[NodeGroup],
    takers: Sequence[NodeGroup],
    enough: int,
) -> Iterator[Room]:
    """The smallest domain bounds the others, also if it takes no pod at all."""
    count = sum(group.count for group in takers)
    hard = [
        (i, constraint)
        for i, constraint in enumerate(template.spec.topology_spread_constraints)
        if constraint.get("whenUnsatisfiable") == "DoNotSchedule"
    ]
    keys = [text(constraint, "topologyKey") for _, constraint in hard]
    for i, constraint in hard:
        key, skew = text(constraint, "topologyKey"), integer(constraint.get("maxSkew"))
        if skew is None or not _selects(constraint, template.labels):
            continue
        if len(_values(it, takers, key) - {None}) >= enough:
            continue  # each of them takes one
        counted = [group for group in groups if group in takers or _counts(constraint, it, group)]
        if not all(group.knows(key) for group in counted if None in group.domains(key)):
            continue
        domains = {value for group in counted for value in group.domains(key)} - {None}
        few = len(domains) < (integer(constraint.get("minDomains")) or 1)
        low = _low(it, takers, key)
        if (
            not few
            and len(keys) == 1
            and all(low[each] * len(domains) >= enough for each in domains)
        ):
            continue  # each domain has room for its share
        slots = _slots(it, counted, takers, (key, *keys))
        if not slots:
            continue
        least = 0 if few else min(slots.values())
        pods = sum(min(each, least + skew) for each in slots.values())
        open_ = sum(each > 0 for each in slots.values())
        path: Path = ("topologySpreadConstraints", i)
        yield Room(pods, count, path, key, open_, len(slots) - open_)


def _slots(
    it: Demand, counted: Sequence[NodeGroup], takers: Sequence[NodeGroup], keys: Sequence[str]
) -> dict[str, int]:
    """The pods that nodes have room for, by the first of these labels. Only nodes with all labels count."""
    slots: dict[str, int] = {}
    for group in counted:
        takes = group in takers
        for node in group.nodes:
            if all(each in node.labels for each in keys):
                value = node.labels[keys[0]]
                slots[value] = slots.get(value, 0) + (_held(it, node) if takes else 0)
    return slots


def _low(it: Demand, takers: Sequence[NodeGroup], key: str) -> Counter[str | None]:
    """The pods that the nodes of each domain have room for, at least."""
    found: Counter[str | None] = Counter()
    for group in takers:
        least = _least(it, group)
        for value, nodes in group.domains(key).items() if least else ():
            found[value] += least * nodes
    return found


def _counts(constraint: Mapping[str, Any], it: Demand, group: NodeGroup) -> bool:
    """Whether a spread constraint counts the domains of nodes that do not take the pods."""
    if constraint.get("nodeAffinityPolicy") != "Ignore":
        labels = Demand(requests=(), selector=it.selector, terms=it.terms)
        if any(isinstance(miss, Differs | NoTerm) for miss in misses(labels, group)):
            return False
    honors = constraint.get("nodeTaintsPolicy") == "Honor"
    return not (honors and any(hard_taints(it, group.taints)))


def _held(it: Demand, node: Node) -> int:
    return (NodeSize(node.allocatable, 1, node.stated).holds(it.requests) or 0) * node.count


def _selects(term: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether the selector of a term selects pods with these labels; without a selector it does not."""
    selector = term.get("labelSelector")
    if not isinstance(selector, dict):
        return False
    expressions = (
        Requirement(text(one, "key"), text(one, "operator"), texts(one, "values"))
        for one in mappings(selector, "matchExpressions")
    )
    return LabelSelector(dict(keyed_texts(selector, "matchLabels")), tuple(expressions)).selects(
        labels
    )
