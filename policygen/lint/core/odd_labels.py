"""Labels of nodes that nothing selects, while several objects select a label that differs by a typo."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Struct, field

from policygen.core.finding import At, Edit, Path, Verb
from policygen.core.suggest import SEPARATORS, is_typo
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import NodeView
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.node_groups import meant_label
from policygen.kubernetes.pod_terms import PREFERRED
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping, mappings, text, texts
from policygen.kubernetes.workloads import PodSpec, PodTemplate

_BY_PROGRAMS = ("kubernetes.io", "k8s.io", "nvidia.com", "amd.com", "intel.com")
"""Domains of labels that programs write, which make no typos."""
_MOST_VALUES = 100
"""A label with more values that nothing selects is that of single nodes or racks."""


class User(NamedTuple):
    """An object that selects a label."""

    owner: object
    part: "Entry[Any] | PodTemplate"
    """The owner, or its pod template."""
    path: Path
    """The place of the label in the part."""

    @property
    def at(self) -> At:
        """The place of the label. Made on demand, because few are reported."""
        return self.part.at.to(*self.path)


class OddLabel(Struct, frozen=True, eq=False):
    """A label with a typo."""

    key: str
    value: str
    """Empty if the key has the typo."""
    right: str
    """The key or value that others select."""
    nodes: Sequence[Entry[NodeView]]
    users: Sequence["User"]
    """The objects that select the right one."""

    @property
    def is_key(self) -> bool:
        """Whether the key is misspelled, not the value."""
        return not self.value

    @property
    def edits(self) -> Iterator[Edit]:
        """What was meant."""
        verb = Verb.RENAME if self.is_key else Verb.REWRITE
        for node in self.nodes:
            yield Edit(verb, node.at.to("metadata", "labels", self.key), self.right)


class _Selected(Struct, frozen=True, eq=False):
    """What flavors, topologies and pods select."""

    required: dict[str, dict[str, list[User]]] = field(default_factory=dict)
    """The objects that require a label, by key and value; the value is empty if only the key matters."""
    used: dict[str, set[str]] = field(default_factory=dict)
    """All values that are mentioned, by key."""
    sure: set[str] = field(default_factory=set)
    """The values that a flavor has in its name, too."""

    def add(self, key: str, value: str, user: User) -> None:
        """Add an object that requires a label; the value is empty if only the key matters."""
        self.used.setdefault(key, set()).add(value)
        if not _is_by_program(key):
            self.required.setdefault(key, {}).setdefault(value, []).append(user)


def odd_labels(cluster: Cluster) -> tuple[OddLabel, ...]:
    """The labels of nodes with a typo; use it with `cluster.derive`.

    Several objects select the right label, or a flavor whose name contains it, or other nodes have it.
    """
    return tuple(_odd_labels(cluster)) if cluster.nodes.any else ()


def _odd_labels(cluster: Cluster) -> Iterator[OddLabel]:
    nodes: dict[str, dict[str, list[Entry[NodeView]]]] = {}
    for node in cluster.nodes:
        for key, value in node.labels.items():
            nodes.setdefault(key, {}).setdefault(value, []).append(node)
    selected = _selected(cluster)
    for key, required in selected.required.items():
        same = nodes.get(key, {})
        users = [user for it in required.values() for user in it]
        if same or _are_several(users):
            yield from _of_keys(key, nodes, selected, users)
        unused = [it for it in same if it not in selected.used[key]]
        for value in required if len(unused) <= _MOST_VALUES else ():
            if value in same or value in selected.sure or _are_several(required[value]):
                for other in unused:
                    if is_typo(other, value):
                        yield OddLabel(key, other, value, same[other], required[value])


def _of_keys(
    key: str,
    nodes: Mapping[str, Mapping[str, Sequence[Entry[NodeView]]]],
    selected: _Selected,
    users: Sequence[User],
) -> Iterator[OddLabel]:
    for other in nodes.keys() - selected.used.keys():
        if meant_label(other, (key,)) or other.translate(SEPARATORS) == key.translate(SEPARATORS):
            found = [it for each in nodes[other].values() for it in each if key not in it.labels]
            if found and not _is_by_program(other):
                yield OddLabel(other, "", key, found, users)


def _selected(cluster: Cluster) -> _Selected:
    found = _Selected()
    for flavor in cluster.flavors:
        for key, value in flavor.fields.node_labels.items():
            found.add(key, value, User(flavor, flavor, ("spec", "nodeLabels", key)))
            found.sure.update({value}.intersection((flavor.name, *flavor.name.split("."))))
    for topology in cluster.topologies:
        for i, level in enumerate(topology.fields.levels):
            user = User(topology, topology, ("spec", "levels", i, "nodeLabel"))
            found.add(level.node_label, "", user)
    for workload in cluster.workloads:
        for template in workload.templates:
            for key, value in template.spec.node_selector.items():
                found.add(key, value, User(workload, template, ("spec", "nodeSelector", key)))
            for it in _expressions(template.spec) if template.spec.affinity else ():
                found.used.setdefault(text(it, "key"), set()).update(texts(it, "values"))
    return found


def _expressions(spec: PodSpec) -> Iterator[Mapping[str, Any]]:
    """All requirements of the node affinity."""
    terms = mappings(spec.affinity, "nodeAffinity", REQUIRED, "nodeSelectorTerms")
    preferred = mappings(spec.affinity, "nodeAffinity", PREFERRED)
    for term in (*terms, *(mapping(it, "preference") for it in preferred)):
        yield from mappings(term, "matchExpressions")


def _are_several(users: Sequence[User]) -> bool:
    return any(it.owner is not users[0].owner for it in users)


@lru_cache(1 << 10)
def _is_by_program(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    return bool(slash) and domain.endswith(_BY_PROGRAMS)
