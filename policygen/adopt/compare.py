"""The differences between what an adopted spec renders and the objects that were read.

The list is computed by comparison, so that nothing can be dropped: every object of a kind that
policygen renders is either rendered with equal fields, or in the list.
"""

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from policygen.adopt.infer import Inferred
from policygen.adopt.namespaces import REQUESTS
from policygen.adopt.trees import is_extended
from policygen.adopt.volcano import VOLCANOS
from policygen.adopt.workloads import queue_of
from policygen.core.finding import dotted
from policygen.core.names import MANAGED_BY, SET
from policygen.drift.compare import FieldDifference, Read, differences
from policygen.drift.drift import GROUP_KINDS, RenderedObject, alike, new_metadata
from policygen.kubernetes.cluster import KUEUE, SCHEDULING, VOLCANO, Cluster
from policygen.kubernetes.kueue import POLICY_KINDS
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import GroupKind
from policygen.kubernetes.untyped import mapping, mappings
from policygen.plan.catalog import KINDS
from policygen.plan.extras import WORKLOADS
from policygen.render.scalar import encode

_REFERENCES = {
    "ClusterQueue": (("cohortName", "Cohort"), ("cohort", "Cohort")),
    "Cohort": (("parentName", "Cohort"), ("parent", "Cohort")),
    "LocalQueue": (("clusterQueue", "ClusterQueue"),),
    "Queue": (("parent", "Queue"),),
}
"""Fields of `spec` that name another object, with its kind."""


_OF_THE_SET = {("metadata", "labels", it) for it in (SET, MANAGED_BY)}
_OF_TOOLS = ("kubectl.kubernetes.io/", "deployment.kubernetes.io/", "batch.kubernetes.io/")
"""The beginnings of labels and annotations that kubectl and controllers write."""

_LABELS = "the labels that name the tool and the set are not set here, and rendered"

_MORE = "the spec renders this object, which does not exist here"
_ANOTHER = "the spec renders another object with this name"


class SpecDifference(Struct, frozen=True):
    """One thing on which the spec and the objects differ."""

    object: str
    """The object that was read, or the rendered one if none was read."""
    field: str
    """Empty for the complete object."""
    message: str
    """One sentence, with values that are shortened."""
    found: Any = UNSET
    """The value of the field that was read; UNSET if it is not set, or if the difference is not one of values."""
    rendered: Any = UNSET
    """The same of the rendered object."""
    of_field: FieldDifference | None = None
    """The difference of two values, with their places."""


def spec_differences(
    cluster: Cluster, inferred: Inferred, rendered: Iterable[RenderedObject], read: Read
) -> Iterator[SpecDifference]:
    """Every object and field on which the objects of the spec and those that were read differ.

    Ordered by kind and name of the objects that were read, then rendered objects without one.
    """
    expected = {it.object.identity: it.object for it in rendered}
    seen: set[tuple[str, str, str, str]] = set()
    for found in sorted(_policy(cluster, inferred), key=lambda it: it.identity):
        name = inferred.renamed.get((found.kind, found.namespace, found.name), found.name)
        identity = (found.group, found.kind, found.namespace, name)
        mine = expected.get(identity)
        if mine is None or identity in seen:
            yield SpecDifference(str(found), "", _lost(found, of_set=bool(found.labels.get(SET))))
            continue
        seen.add(identity)
        if name != found.name:
            message = f"the spec renders it as {mine}"
            yield SpecDifference(str(found), "metadata.name", message, found.name, mine.name)
        elif not found.labels.get(SET):
            yield SpecDifference(str(found), "metadata.labels", _LABELS)
        left, right = alike(mine, translated(found, inferred.renamed))
        for difference in (*differences(left.data, right.data, read), *_more_metadata(left, right)):
            if difference.path not in _OF_THE_SET:
                yield SpecDifference(
                    str(found),
                    dotted(difference.named),
                    _message(difference),
                    difference.found,
                    difference.expected,
                    difference,
                )
    for name, reason in inferred.left:
        yield SpecDifference(name, "", reason)
    yield from _queue_names(cluster, inferred.renamed)
    there = {it.identity for it in cluster.objects}
    for identity, mine in expected.items():
        if identity not in seen:
            yield SpecDifference(str(mine), "", _ANOTHER if identity in there else _MORE)


def _queue_names(
    cluster: Cluster, renamed: Mapping[tuple[str, str, str], str]
) -> Iterator[SpecDifference]:
    """The workloads whose queue has another name in the spec."""
    for workload in cluster.workloads:
        queues = (queue_of(cluster, workload, it) for it in workload.templates)
        for queue in dict.fromkeys(filter(None, queues)):
            kind, _, name = queue
            new = renamed.get(queue, name)
            if new != name:
                message = f"it names {kind} {name}, which the spec renders as {new}; change its queue to {new}"
                yield SpecDifference(str(workload.object), "", message)


def _more_metadata(expected: Object, found: Object) -> Iterator[FieldDifference]:
    """The labels and annotations that only the object has that was read, and no tool wrote."""
    more = new_metadata(expected, found)
    return (it for it in more if not str(it.path[-1]).startswith(_OF_TOOLS))


def _policy(cluster: Cluster, inferred: Inferred) -> Iterator[Object]:
    """The objects that a spec is about. Of most kinds, only those of a set are policy."""
    spaces = {it.name for team in inferred.spec.teams for it in team.namespaces}
    return (it for it in cluster.objects if is_policy(it, spaces))


def is_policy(found: Object, spaces: Collection[str]) -> bool:
    """Whether a spec can be about an object. `spaces` are the namespaces of teams."""
    if found.labels.get(SET) or (found.group == KUEUE and found.kind in POLICY_KINDS):
        return True
    match (found.group, found.kind):
        case (group, "PriorityClass") if group == SCHEDULING:
            return not found.name.startswith("system-")
        case (group, "Queue") if group == VOLCANO:
            return found.name not in VOLCANOS
        case ("", "ResourceQuota" | "LimitRange"):
            hard = mapping(found.data, "spec", "hard")
            of_gpus = any(
                is_extended(str(it).removeprefix(REQUESTS)) for it in hard if REQUESTS in str(it)
            )
            return found.namespace in spaces or not found.namespace or of_gpus
    return False


def _lost(found: Object, *, of_set: bool) -> str:
    kind = GroupKind(found.group, found.kind)
    if kind not in GROUP_KINDS:
        return f"policygen renders no object of kind {found.kind}"
    extras = _EXTRAS.get(kind, []) if of_set else []
    if not extras:
        return "the spec does not render this object"
    if len(extras) > 1:
        return "the spec does not render this object, or only with an option --with; it was not compared"
    return (
        f"the spec renders such an object only with --with {extras[0]}, so its fields were not compared, and "
        "its own values, such as limits and parameters, are not in the spec"
    )


def _extras() -> Iterator[tuple[GroupKind, list[str]]]:
    """The options of the kinds that are rendered with one, apart from the objects of models."""
    for kind in GROUP_KINDS:
        extras = {it.extra for it in KINDS if it.name == kind.kind and it.extra}
        if extras and WORKLOADS not in extras:
            yield kind, sorted(extras)


_EXTRAS = dict(_extras())


def _message(difference: FieldDifference) -> str:
    if difference.reordered:
        return "the entries are in another order in the rendered object"
    if difference.found is UNSET:
        return f"is not set here, and rendered as {_shown(difference.expected)}"
    if difference.expected is UNSET:
        return f"is {_shown(difference.found)} here, and not rendered"
    return f"is {_shown(difference.found)} here, and rendered as {_shown(difference.expected)}"


_LONG = 60


def _shown(value: Any) -> str:
    text = encode(value)
    return text if len(text) <= _LONG else f"{text[: _LONG - 3]}..."


def translated(found: Object, names: Mapping[tuple[str, str, str], str]) -> Object:
    """The object with the names that the spec gives to the objects that it names."""
    data = copy.deepcopy(found.data)
    spec = mapping(data, "spec")
    for field, kind in _REFERENCES.get(found.kind, ()):
        if isinstance(spec.get(field), str):
            spec[field] = names.get((kind, "", spec[field]), spec[field])
    for group in mappings(spec, "resourceGroups"):
        for flavor in mappings(group, "flavors"):
            name = flavor.get("name")
            if isinstance(name, str):
                flavor["name"] = names.get(("ResourceFlavor", "", name), name)
    return replace(found, data=data)
