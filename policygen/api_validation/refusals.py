"""What an API server would refuse in an object, checked without a server."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from policygen.api_validation import metadata, object_code, schemas, structural
from policygen.api_validation.refusal import Reason, Refusal, Spot, counted
from policygen.api_validation.scalars import Check
from policygen.core.finding import Path, at_path

_NOT_MEASURED = (
    "jobset.x-k8s.io",
    "kubeflow.org",
    "leaderworkerset.x-k8s.io",
    "ray.io",
    "trainer.kubeflow.org",
    "workload.codeflare.dev",
)
"""Groups of operators, whose webhooks may replace a null."""


def refusals(thing: Mapping[str, Any], kind: schemas.ServedKind) -> Iterator[Refusal]:
    """Every reason for which a server refuses to create an object, in the order of its fields.

    `thing` is the object as in JSON (mappings with string keys), and `kind` is the result of
    `schemas.served` for its apiVersion and kind. Checks as `fieldValidation=Strict` does: fields,
    types, bounds, CEL rules, metadata, and `object_code`. Rules of lint check what else a webhook
    or the code of a built-in kind refuses. Does not check updates of existing objects.
    """
    for refusal in refusals_with_apply(thing, kind):
        if refusal.reason is not Reason.SERVER_SIDE_APPLY:
            yield refusal


def refusals_with_apply(
    thing: Mapping[str, Any], kind: schemas.ServedKind, part: Path = ()
) -> Iterator[Refusal]:
    """Like `refusals`, with the reasons for which only server-side apply refuses to create the object.

    `part` is what `Acceptor.unsure_part` returned: if only one entry is checked, it takes less time.
    """
    written = thing
    if kind.status_dropped and "status" in thing:
        thing = {key: value for key, value in thing.items() if key != "status"}
    found = _of_part(thing, kind, part) if part else []
    if not counted(found, 0):
        found = []
        _check(kind.api_version, kind.kind)(dict(thing), None, found)
        _check_metadata(thing, kind, found)
        object_code.check(written, kind, found)
    created = {it.path for it in found if it.reason is not Reason.SERVER_SIDE_APPLY}
    for refusal in found:
        if refusal.reason is not Reason.SERVER_SIDE_APPLY or not (
            refusal.path in created or _replaced(thing, kind, refusal.path)
        ):
            yield refusal


def _of_part(thing: Mapping[str, Any], kind: schemas.ServedKind, path: Path) -> list[Refusal]:
    """The refusals of the metadata, or of one entry, of an object that is valid without them."""
    found: list[Refusal] = []
    if path == ("metadata",):
        _check_metadata(thing, kind, found)
        return found
    *above, last = path
    spot: Spot = None
    for step in above:
        spot = spot, step
    check, keys = _entries(kind.api_version, kind.kind, tuple(above))
    if last not in keys:
        check({last: at_path(thing, path)}, spot, found)
    return found


def _check_metadata(
    thing: Mapping[str, Any], kind: schemas.ServedKind, found: list[Refusal]
) -> None:
    meta = thing.get("metadata")
    metadata.check({} if meta is None else meta, kind, found)


def _replaced(thing: Mapping[str, Any], kind: schemas.ServedKind, path: Path) -> bool:
    """Whether server-side apply does not refuse it, such as a null that a webhook replaces before.

    Measured for each field of each kind: Kueue and Volcano write what they decoded, if it differs.
    An object without a name cannot be applied.
    """
    metadata = thing.get("metadata")
    if not isinstance(metadata, dict) or not metadata.get("name"):
        return True
    match kind.group, kind.version, kind.kind:
        case "kueue.x-k8s.io", "v1beta1", "ClusterQueue":
            return True  # the conversion to v1beta2 drops it
        case "kueue.x-k8s.io", _, "ClusterQueue":
            return path == ("spec",) or path[-1] == "nominalQuota" or "matchLabels" in path
        case "kueue.x-k8s.io", _, "ResourceFlavor":
            return path == ("spec",) or "nodeLabels" in path
        case "scheduling.volcano.sh", _, "Queue":
            made = metadata["name"] == "root"  # by the scheduler, with these fields
            return made or path == ("spec", "reclaimable")
        case "batch.volcano.sh", _, "Job":
            fields = {("spec", "minAvailable"), ("spec", "schedulerName")}
            return path[:2] == ("spec", "tasks") or path in fields
    return kind.group in _NOT_MEASURED


@cache
def _check(api_version: str, kind: str) -> Check:
    schema, custom = _schema(api_version, kind)
    return structural.check(schema, custom=custom)


@cache
def _entries(api_version: str, kind: str, path: Path) -> tuple[Check, Sequence[str]]:
    """The check of entries of the mapping at a path.

    If it is in a list, also its keys: other entries of the list may be refused because of these.
    """
    schema, custom = _schema(api_version, kind)
    keys: Sequence[str] = ()
    for step in path:
        keys = schema.get("x-kubernetes-list-map-keys", ()) if isinstance(step, int) else ()
        schema = structural.below(schema, step)
    return structural.entries(schema, custom=custom), keys


@cache
def _schema(api_version: str, kind: str) -> tuple[structural.Schema, bool]:
    """The schema of a kind, without that of its metadata, and whether the kind is a custom one."""
    found = schemas.served(api_version, kind)
    if found is None:
        raise LookupError(f"policygen has no schema for kind {kind} of {api_version}")
    properties = found.schema["properties"]
    # Metadata is checked separately; a CRD can only narrow it.
    open_metadata = {**properties["metadata"], "x-kubernetes-preserve-unknown-fields": True}
    return {**found.schema, "properties": {**properties, "metadata": open_metadata}}, found.custom
