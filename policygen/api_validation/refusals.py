"""What an API server would refuse of an object, without asking one."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from policygen.api_validation import metadata, schemas, structural
from policygen.api_validation.refusal import Refusal
from policygen.api_validation.scalars import Check


def refusals(thing: Mapping[str, Any], kind: schemas.Served) -> Iterator[Refusal]:
    """Everything for which a server refuses to create an object, in the order of its fields.

    `thing` is the object as JSON has it (mappings with text as keys), and `kind` what
    `schemas.served` gives for its apiVersion and kind. Judged as by `fieldValidation=Strict`:
    fields, types, bounds, CEL rules, metadata. Not judged: what a webhook or the code of a
    built-in kind refuses beyond its schema, changes of what exists, and status.
    """
    found: list[Refusal] = []
    if kind.status_dropped and "status" in thing:
        thing = {key: value for key, value in thing.items() if key != "status"}
    _check(kind.api_version, kind.kind)(dict(thing), None, found)
    metadata.check({} if thing.get("metadata") is None else thing["metadata"], kind, found)
    yield from found


@cache
def _check(api_version: str, kind: str) -> Check:
    found = schemas.served(api_version, kind)
    if found is None:
        raise LookupError(f"no server that was asked serves {kind} in {api_version}")
    properties = found.schema["properties"]
    # Metadata is judged apart; a CRD can only narrow it.
    open_metadata = {**properties["metadata"], "x-kubernetes-preserve-unknown-fields": True}
    schema = {**found.schema, "properties": {**properties, "metadata": open_metadata}}
    return structural.check(schema, custom=found.custom)
