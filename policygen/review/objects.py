"""Which objects change, and in which fields."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import UNSET, Struct
from msgspec.structs import replace

from policygen.adopt.compare import is_policy
from policygen.core.names import MANAGED_BY, SET, TOOL
from policygen.drift.changes import What
from policygen.drift.compare import FieldDifference, Read, differences
from policygen.drift.drift import IDENTITY, Rendered, alike, deleted_at, new_metadata
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object


class ObjectChange(Struct, frozen=True, eq=False):
    """An object that is added, removed or changed."""

    what: What
    object: Object
    """The new object, or the old one if it is removed."""
    fields: tuple[FieldDifference, ...] = ()
    """`expected` is the value before, and `found` the value after. Of an added object only if it is renamed."""
    foreign: bool = False
    """Whether it is on a cluster or among manifests, and the spec never rendered it. So nothing removes it."""
    other_names: tuple[str, ...] = ()
    """Of a renamed object: the new name of a removed one, the old names of an added one."""


def object_changes(
    old: Iterable[Object], new: Iterable[Object], read: Read
) -> Iterator[ObjectChange]:
    """The changes, in the order of the new objects; removed objects come last."""
    was = {it.identity: it for it in old}
    now = {it.identity: it for it in new}
    for key, after in now.items():
        before = was.get(key)
        if before is None:
            yield ObjectChange(What.ADDED, after)
            continue
        mine, theirs = alike(before, after)
        fields = (*new_metadata(mine, theirs), *differences(mine.data, theirs.data, read))
        if fields:
            yield ObjectChange(What.CHANGED, after, fields)
    for key, before in was.items():
        if key not in now:
            yield ObjectChange(What.REMOVED, before)


def without_sets(changes: Iterable[ObjectChange]) -> Iterator[ObjectChange]:
    """The changes without those of the label that names the set."""
    for change in changes:
        fields = tuple(it for it in change.fields if it.path != ("metadata", "labels", SET))
        if fields or change.what is not What.CHANGED:
            yield replace(change, fields=fields)


def observed_changes(
    rendered: Rendered, cluster: Cluster, spaces: Collection[str], *, applied: bool
) -> Iterator[ObjectChange]:
    """The changes between what a spec renders and the objects of a cluster or of manifests.

    With `applied`, they change to what the spec renders; otherwise to the objects of the cluster.
    `spaces` are the namespaces of teams. Fields that a server sets itself do not count, nor do missing
    labels that name the tool and the set. Objects of kinds that were not read, and those of other sets, are
    skipped.
    """
    drift = rendered.against(cluster)
    here = {id(it.item): it.object for it in rendered.expected}
    missing = {id(it.item) for it in (*drift.missing, *(it for it, _ in drift.leaving))}
    changed = {id(it.expected.item): it for it in drift.changed}
    for item in drift.order:
        if id(item) in missing:
            yield ObjectChange(What.ADDED if applied else What.REMOVED, here[id(item)])
        elif id(item) in changed:
            state = changed[id(item)]
            fields = [
                it
                for it in (*state.labels, *state.fields)
                if not (it.path in IDENTITY and it.found is UNSET)
            ]
            if fields:
                after = here[id(item)] if applied else state.found
                both = tuple(map(_turned, fields)) if applied else tuple(fields)
                yield ObjectChange(What.CHANGED, after, both)
    expected = {it.object.identity for it in rendered.expected}
    others = other_sets(rendered, cluster)
    for found in policy(cluster, spaces):
        if found.labels.get(SET) in others or found.identity in expected:
            continue
        if not rendered.missing_option(found):
            foreign = found.labels.get(SET) != rendered.name or found in drift.strangers
            yield ObjectChange(What.REMOVED if applied else What.ADDED, found, foreign=foreign)


def other_sets(rendered: Rendered, cluster: Cluster) -> Counter[str]:
    """The number of objects of each set that other specs render.

    If the spec renders an object of a set, that set only has another name.
    """
    expected = {it.object.identity for it in rendered.expected}
    found: Counter[str] = Counter()
    renamed = {rendered.name}
    for it in policy(cluster, ()):
        name = it.labels.get(SET)
        if name and it.labels.get(MANAGED_BY) == TOOL:
            found[name] += 1
            renamed |= {name} if it.identity in expected else set()
    return Counter({name: count for name, count in found.items() if name not in renamed})


def unlabelled(rendered: Rendered, cluster: Cluster) -> Sequence[Object]:
    """The objects of a cluster or of manifests that the spec renders, and that have no label of a set."""
    there = {it.identity: it for it in cluster.objects}
    found = (there.get(it.object.identity) for it in rendered.expected)
    return [it for it in found if it is not None and not it.labels.get(SET)]


def policy(cluster: Cluster, spaces: Collection[str]) -> list[Object]:
    """The objects of a cluster or of manifests that a spec can be about, by kind and name."""
    found = (it for it in cluster.objects if is_policy(it, spaces) and not deleted_at(it))
    return sorted(found, key=lambda it: it.identity)


def _turned(difference: FieldDifference) -> FieldDifference:
    return replace(difference, expected=difference.found, found=difference.expected)
