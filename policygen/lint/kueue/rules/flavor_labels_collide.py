"""Flavors in different resource groups select different nodes."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from msgspec import Struct

from policygen.core.quoting import some
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import ResourceGroup
from policygen.lint.kueue.flavor_nodes import Flavor, Nodes, nodes
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.kueue.rules import topology_in_two_groups
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Each group chooses its own flavor, and Kueue merges their labels in no fixed order.

    Groups with a resource in common are refused, which another rule reports.
    Kueue charges the pod to one pool, but it runs on another. Source: pkg/podset/podset.go,
    FromAssignment; issue 14409. If no node has the labels of both flavors, the pod stays Pending.
    """
    reported = frozenset(places(facts, [topology_in_two_groups.RULE]))
    for queue in facts.cluster.cluster_queues:
        groups = queue.fields.resource_groups
        collisions = _collisions(facts.cluster, groups)
        by_groups: dict[tuple[int, int], list[_Fault]] = {}
        for fault in (*collisions, *_apart(facts.cluster, groups, collisions)):
            by_groups.setdefault(fault.groups, []).append(fault)
        for of_groups, (fault, *others) in by_groups.items():
            at = groups_at(queue, of_groups[1], "flavors", fault.index, "name")
            if at in reported:
                continue
            pairs = [f"{it.one.name} and {it.other.name}" for it in others]
            also = f" (also {some(pairs, 'other pair')})" if others else ""
            yield Hit(
                RULE,
                f"{queue} has flavors {fault.one.name} and {fault.other.name} in different groups, but "
                f"{fault.message}{also}; put the resources of these flavors into one group",
                at,
                related=tuple(it.at.to("spec", "nodeLabels") for it in (fault.one, fault.other)),
            )


class _Fault(Struct, frozen=True):
    """Two flavors that do not go together."""

    groups: tuple[int, int]
    index: int
    """Of the other flavor in its group."""
    one: Flavor
    other: Flavor
    message: str


def _collisions(cluster: Cluster, groups: tuple[ResourceGroup, ...]) -> list[_Fault]:
    """Flavors that set a label to different values."""
    found = []
    seen: dict[str, tuple[int, Flavor]] = {}
    for i, group in enumerate(groups):
        for j, quotas in enumerate(group.flavors):
            flavor = cluster.flavors.get(quotas.name)
            if flavor is None:
                continue
            for key, value in flavor.fields.node_labels.items():
                k, first = seen.setdefault(key, (i, flavor))
                before = first.fields.node_labels[key]
                if before != value and not _related(groups, k, i):
                    message = f"these flavors set label {key} to {before} and {value}"
                    found.append(_Fault((k, i), j, first, flavor, message))
    return found


def _apart(
    cluster: Cluster, groups: tuple[ResourceGroup, ...], reported: Sequence[_Fault]
) -> Iterator[_Fault]:
    """Flavors that both match nodes, but of which no node has all labels."""
    matching = cluster.derive(nodes)
    done = {fault.groups for fault in reported}
    for pair in combinations(range(len(groups)), 2):
        if pair in done or _related(groups, *pair):
            continue
        one, other = (groups[i].flavors for i in pair)
        for first, (j, second) in product(one, enumerate(other)):
            flavors = cluster.flavors.get(first.name), cluster.flavors.get(second.name)
            if flavors[0] is None or flavors[1] is None:
                continue
            both = matching[first.name], matching[second.name]
            if all(it.nodes for it in both) and not _common(*both):
                message = "no node has the labels of both, so a pod that gets both stays Pending"
                yield _Fault(pair, j, flavors[0], flavors[1], message)
                break


def _common(one: Nodes, other: Nodes) -> bool:
    """Whether a node matches both flavors."""
    return not {node.name for node in one.nodes}.isdisjoint(node.name for node in other.nodes)


def _related(groups: tuple[ResourceGroup, ...], one: int, other: int) -> bool:
    """True if two groups are the same, or both cover a resource."""
    both = set(groups[one].covered_resources) & set(groups[other].covered_resources)
    return one == other or bool(both)


RULE = ObjectRule(
    "flavor-labels-collide",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Put resources that one pod requests into the same resource group.",
    judges=("ClusterQueue",),
    check=check,
    reads=("ResourceFlavor", "Node"),
)
