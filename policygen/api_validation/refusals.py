"""What an API server would refuse in an object, checked without a server."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from policygen.api_validation import metadata, object_code, schemas, structural
from policygen.api_validation.refusal import Reason, Refusal
from policygen.api_validation.scalars import Check
from policygen.core.finding import Path
from policygen.core.names import KEYED_METADATA


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
    thing: Mapping[str, Any],
    kind: schemas.ServedKind,
    accepts: Callable[[Mapping[str, Any]], bool] = lambda _: False,
) -> Iterator[Refusal]:
    """Like `refusals`, with the reasons for which only server-side apply refuses to create the object.

    `accepts` is a fast check: True if a server certainly accepts an object of this kind.
    """
    found: list[Refusal] = []
    written = thing
    if kind.status_dropped and "status" in thing:
        thing = {key: value for key, value in thing.items() if key != "status"}
    in_metadata: list[Refusal] = []
    meta = {} if thing.get("metadata") is None else thing["metadata"]
    metadata.check(meta, kind, in_metadata)
    if not in_metadata or not accepts({**thing, "metadata": _without_keys(meta)}):
        _check(kind.api_version, kind.kind)(dict(thing), None, found)
    found += in_metadata
    object_code.check(written, kind, found)
    for refusal in found:
        if refusal.reason is not Reason.SERVER_SIDE_APPLY or not _replaced(
            thing, kind, refusal.path
        ):
            yield refusal


def _without_keys(meta: Any) -> Any:
    """Metadata without labels and annotations, which no schema and no code of a kind restricts."""
    if not isinstance(meta, dict):
        return meta
    return {key: value for key, value in meta.items() if key not in KEYED_METADATA}


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
    return False


@cache
def _check(api_version: str, kind: str) -> Check:
    found = schemas.served(api_version, kind)
    if found is None:
        raise LookupError(f"policygen has no schema for kind {kind} of {api_version}")
    properties = found.schema["properties"]
    # Metadata is checked separately; a CRD can only narrow it.
    open_metadata = {**properties["metadata"], "x-kubernetes-preserve-unknown-fields": True}
    schema = {**found.schema, "properties": {**properties, "metadata": open_metadata}}
    return structural.check(schema, custom=found.custom)
