"""The resources of a pipeline that an earlier run of a Render added, and that another run replaces."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from msgspec import Struct

from policygen.app.render import Result
from policygen.core.finding import At, Finding
from policygen.core.names import MANAGED_BY, SET, TOOL
from policygen.documents.parse import mapping as parsed
from policygen.drift.strangers import strangers
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping
from policygen.lint.drift.rules import object_of_another_spec
from policygen.plan.catalog import KINDS
from policygen.plan.extras import OF_MODELS
from policygen.plan.model_names import MODEL

_Resource = dict[str, Any]


class EarlierRender(Struct, frozen=True):
    """Resources before a Render."""

    kept: tuple[_Resource, ...]
    """Those that it does not replace."""
    of_others: tuple[tuple[Finding, _Resource], ...]
    """Those of another spec with the same name of the set, which it must not remove."""


def find(
    items: Sequence[_Resource], result: Result, extras: Collection[str], only: Collection[str]
) -> EarlierRender:
    """Separate the resources that a Render with these options replaces. `result` is what it renders."""
    sets = {it.item.meta.set for it in result.manifests}
    kinds = _rendered_kinds(extras, only)
    kept: list[_Resource] = []
    replaced: list[_Resource] = []
    for it in items:
        stays = not _is_rendered(it, sets, kinds) or _file_of(it) in result.not_requested
        (kept if stays else replaced).append(it)
    return EarlierRender(tuple(kept), tuple(_of_others(replaced, result)))


def _of_others(
    replaced: Sequence[_Resource], result: Result
) -> Iterator[tuple[Finding, _Resource]]:
    """The resources that the Render would remove, although nothing connects them with its own."""
    if not replaced:
        return
    made = [it for one in result.manifests if (it := Object.read(parsed(one.text), At(0)))]
    identities = {it.identity for it in made}
    resources = {it: one for one in replaced if (it := Object.read(one, At(0)))}
    orphans = [it for it in resources if it.identity not in identities]
    for found in strangers(made, orphans, (it for it in resources if it.identity in identities)):
        name = mapping(found.data, "metadata", "labels")[SET]
        message = (
            f"{found} has the label {SET}: {name}, but it is of no team of this Render, so another "
            "spec probably has the same name of its set; write another metadata.name in the Platform of one of the "
            "two, or delete the resource if a former version of this spec rendered it"
        )
        yield Finding(object_of_another_spec.RULE, message, object=str(found)), resources[found]


def _rendered_kinds(extras: Collection[str], only: Collection[str]) -> set[tuple[str, bool]]:
    """The kinds that a Render can add, in lower case; another Render of the set adds the others.

    With whether the object runs a model: a Deployment can also run a second scheduler.
    """
    named = {it.lower() for it in only}
    kinds = (it for it in KINDS if not it.extra or it.extra in extras)
    found = ((it.name.lower(), it.extra in OF_MODELS) for it in kinds)
    return {it for it in found if not named or it[0] in named}


def _is_rendered(
    item: _Resource, sets: Collection[str], kinds: Collection[tuple[str, bool]]
) -> bool:
    labels = mapping(item, "metadata", "labels")
    is_ours = labels.get(MANAGED_BY) == TOOL and str(labels.get(SET)) in sets
    return is_ours and (str(item.get("kind")).lower(), MODEL in labels) in kinds


def _file_of(item: _Resource) -> tuple[str, str] | None:
    """Namespace and name of a ConfigMap; None for other resources."""
    meta = mapping(item, "metadata")
    is_file = item.get("kind") == "ConfigMap"
    return (str(meta.get("namespace")), str(meta.get("name"))) if is_file else None
