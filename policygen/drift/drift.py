"""Compares a cluster with the rendered objects: missing, changed, orphaned and taken-over objects."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import UNSET, Struct
from msgspec.structs import replace

from policygen.core.finding import At, Path, at_path, named
from policygen.core.names import MANAGED_BY, SET, TOOL
from policygen.drift.compare import FieldDifference, Read, differences
from policygen.drift.strangers import strangers
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.renames import canonical
from policygen.kubernetes.snapshot import CONFIG_MAP, GroupKind, Seen
from policygen.kubernetes.untyped import mapping, numbered, text
from policygen.kubernetes.workloads import TEMPLATES
from policygen.plan.catalog import KINDS
from policygen.plan.extras import WORKLOADS
from policygen.plan.kind import Item

KEPT = "Namespace"
"""Never removed, since a Namespace contains the data of a team."""

GROUP_KINDS = frozenset(
    GroupKind(release.api_version.rpartition("/")[0], kind.name)
    for kind in KINDS
    for release in kind.releases
)
"""All kinds that can be rendered."""

IDENTITY = (("metadata", "labels", MANAGED_BY), ("metadata", "labels", SET))
"""The labels of all rendered objects, which name the tool and the set."""


class RenderedObject(Struct, frozen=True, eq=False):
    """One object that the spec renders."""

    item: Item
    object: Object
    """Parsed from the text. It has a separate document without lines."""
    text: str
    """The rendered text."""

    @property
    def data(self) -> dict[str, Any]:
        """Its fields."""
        return self.object.data


class Changed(Struct, frozen=True, eq=False):
    """An object that differs from the rendered object."""

    expected: RenderedObject
    """In the API version of the found object."""
    found: Object
    fields: tuple[FieldDifference, ...]
    labels: tuple[FieldDifference, ...] = ()
    """Our labels, if they name another tool or set."""
    controllers: tuple[tuple[Path, str], ...] = ()
    """Objects that control it, and the paths of their owner references."""
    older: str = ""
    """The apiVersion of the found object, if it is older than the rendered one. Then no patch can fix
    it, since the server does not have the newer version."""


class Drift(Struct, frozen=True, eq=False):
    """All differences of a cluster from the spec."""

    context: str
    """The name of the cluster."""
    kubectl_context: str
    """Its context for kubectl; empty if no context names it."""
    order: tuple[Item, ...]
    """The rendered items in apply order."""
    changed: tuple[Changed, ...]
    missing: tuple[RenderedObject, ...]
    leaving: tuple[tuple[RenderedObject, Object], ...]
    """Deleted objects that still exist, since a finalizer keeps them."""
    orphans: tuple[Object, ...]
    strangers: tuple[Object, ...] = ()
    """Objects that are probably those of another spec with the same name of the set."""


class Rendered:
    """The rendered objects of a spec, to compare with clusters."""

    def __init__(
        self,
        name: str,
        expected: Iterable[RenderedObject],
        origin: Callable[[Item, Path], At | None],
        read: Read,
        missing_option: Callable[[Object], str] = lambda _: "",
    ) -> None:
        self.name = name
        """The name of the set."""
        self.expected = tuple(expected)
        self.kinds = frozenset(GroupKind(it.object.group, it.object.kind) for it in self.expected)
        self._origin = origin
        self._read = read
        self.missing_option = missing_option
        """The option that renders an object and that was not set; "" if the object needs none."""
        self._against: WeakKeyDictionary[Cluster, Drift] = WeakKeyDictionary()

    def origin(self, rendered: RenderedObject, path: Path = ()) -> At | None:
        """The place in the spec behind an object or a field of it."""
        return self._origin(rendered.item, named(self._opened(rendered, path), path))

    def _opened(self, rendered: RenderedObject, path: Path) -> Any:
        """An object in which the file at a path is replaced by its parsed data."""
        part, *rest = path or ("",)
        text = at_path(rendered.data, path[:2])
        if part != "data" or not rest[1:] or not isinstance(text, str):
            return rendered.data
        return {part: {rest[0]: self._read(text)}}

    def against(self, cluster: Cluster) -> Drift:
        """The differences of a cluster, computed once. Kinds that were not read are skipped."""
        if cluster not in self._against:
            self._against[cluster] = self._drift(cluster)
        return self._against[cluster]

    def not_requested(self, cluster: Cluster) -> tuple[Object, ...]:
        """ConfigMaps that the snapshot did not read, since they are read by name."""
        seen = cluster.seen
        if seen is None or CONFIG_MAP not in seen.read:
            return ()
        there = {it.identity for it in cluster.of(*CONFIG_MAP)}
        return tuple(
            rendered.object
            for rendered in self.expected
            if was_not_requested(seen, rendered.object) and rendered.object.identity not in there
        )

    def _drift(self, cluster: Cluster) -> Drift:
        there = {it.identity: it for kind in GROUP_KINDS for it in cluster.of(*kind)}
        changed, missing, leaving, known = [], [], [], []
        for rendered in self.expected:
            found = there.get(rendered.object.identity)
            if found is None:
                if _is_known(cluster, rendered.object):
                    missing.append(rendered)
                continue
            known.append(found)
            if deleted_at(found):
                leaving.append((rendered, found))
                continue
            mine, theirs = alike(rendered.object, found)
            runs = cluster.seen is not None and rendered.item.kind.extra == WORKLOADS
            state = _changed(replace(rendered, object=mine), theirs, self._read, runs=runs)
            if found.version != theirs.version:
                state = replace(state, older=found.api_version)
            if state.fields or state.labels or state.controllers:
                changed.append(state)
        ours = {it.object.identity for it in self.expected}
        orphans = [it for key, it in there.items() if key not in ours and self._is_orphan(it)]
        others = strangers((it.object for it in self.expected), orphans, known)
        foreign = {it.identity for it in others}
        seen = cluster.seen
        return Drift(
            seen.context if seen else "",
            seen.kubectl_context if seen else "",
            tuple(it.item for it in self.expected),
            tuple(changed),
            tuple(missing),
            tuple(leaving),
            tuple(it for it in orphans if it.identity not in foreign),
            others,
        )

    def _is_orphan(self, found: Object) -> bool:
        return (
            found.labels.get(MANAGED_BY) == TOOL
            and found.labels.get(SET) == self.name
            and found.kind != KEPT
            and not deleted_at(found)
            and not self.missing_option(found)
        )


def deleted_at(found: Object) -> str:
    """When the deletion of an object was requested, RFC 3339; empty if it was not."""
    return text(found.data, "metadata", "deletionTimestamp")


def _changed(expected: RenderedObject, found: Object, read: Read, *, runs: bool) -> Changed:
    fields: list[FieldDifference] = []
    labels: list[FieldDifference] = []
    # Of objects with pod templates that are not ours, a snapshot keeps what rules read (projection.py).
    # Controllers change the fields of running workloads: Kueue starts them, autoscalers scale them.
    is_ours = found.labels.get(MANAGED_BY) == TOOL
    whole = (is_ours and not runs) or (found.group, found.kind) not in TEMPLATES
    for difference in differences(expected.data, found.data, read):
        if not whole and difference.path[:1] != ("metadata",):
            continue
        other = difference.path in IDENTITY and difference.found is not UNSET
        (labels if other else fields).append(difference)
    return Changed(expected, found, tuple(fields), tuple(labels), tuple(_controllers(found)))


def _controllers(found: Object) -> Iterator[tuple[Path, str]]:
    for index, owner in numbered(found.data, "metadata", "ownerReferences"):
        if owner.get("controller") is True:
            yield (
                ("metadata", "ownerReferences", index),
                f"{owner.get('kind')} {owner.get('name')}",
            )


def _is_known(cluster: Cluster, rendered: Object) -> bool:
    """Whether an object that was not seen does not exist."""
    seen = cluster.seen
    if seen is None:
        return True
    kind = GroupKind(rendered.group, rendered.kind)
    if rendered.namespace and seen.namespaces and rendered.namespace not in seen.namespaces:
        return False
    return (kind in seen.read and not was_not_requested(seen, rendered)) or kind in seen.unserved


def was_not_requested(seen: Seen, config_map: Object) -> bool:
    """Whether a snapshot does not know if an object exists: a ConfigMap whose name was not requested."""
    return (
        GroupKind(config_map.group, config_map.kind) == CONFIG_MAP
        and config_map.name not in seen.config_maps
    )


def new_metadata(was: Object, now: Object) -> Iterator[FieldDifference]:
    """The labels and annotations that only the second object has."""
    for part in ("labels", "annotations"):
        mine, theirs = mapping(was.data, "metadata", part), mapping(now.data, "metadata", part)
        for key, value in theirs.items():
            if key not in mine:
                path = ("metadata", part, key)
                yield FieldDifference(path, UNSET, value, path, named=path)


def alike(one: Object, other: Object) -> tuple[Object, Object]:
    """Both objects in the same API version, the newer of the two."""
    if one.api_version == other.api_version:
        return one, other
    newest = max(one, other, key=lambda it: it.version).api_version
    mine, theirs = (
        replace(version, api_version=newest, data={**canonical(version), "apiVersion": newest})
        for version in (one, other)
    )
    return mine, theirs
