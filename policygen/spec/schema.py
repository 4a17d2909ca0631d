"""Checks documents with the JSON Schema of their form."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from policygen.core import shipped
from policygen.core.finding import At, Hit, Path
from policygen.core.quoting import quoted
from policygen.spec.forms import PLATFORM, SCHEDULER_CONFIG, TEAM, DocumentForm
from policygen.spec.rules import DUPLICATE_ENTRY, UNEXPLAINED_REFUSAL

if TYPE_CHECKING:  # `--help` does not pay for its import
    import jsonschema_rs

Raw = Callable[[Path], str | None]
"""Returns the text of the scalar at a path, if it is known (`Document.raw`)."""

KEYED: dict[str, tuple[tuple[Path, str], ...]] = {
    PLATFORM.schema: (
        (("spec", "clusters"), "name"),
        (("spec", "priorities"), "name"),
        (("spec", "sharedQueues"), "name"),
    ),
    TEAM.schema: ((("spec", "namespaces"), "name"), (("spec", "quotas"), "pool")),
    SCHEDULER_CONFIG.schema: ((("queues",), "name"),),
}
"""Lists of mappings whose entries must differ in one key, which JSON Schema cannot express."""


def source(file: str) -> str:
    """The text of a schema, by its file name in `forms.schema_names`."""
    return (shipped.root() / "schemas" / "spec" / file).read_text(encoding="utf-8")


@cache
def read(file: str) -> dict[str, Any]:
    """A schema as data; do not change it."""
    schema: dict[str, Any] = json.loads(source(file))
    return schema


@cache
def _compiled(file: str) -> "jsonschema_rs.Draft202012Validator":
    import jsonschema_rs  # noqa: PLC0415 - its import takes 30 ms, which `--help` does not need

    return jsonschema_rs.Draft202012Validator(read(file))


def is_valid(form: DocumentForm, data: Any) -> bool:
    """Whether data is valid by the schema of its form."""
    try:
        return _compiled(form.schema).is_valid(data)
    except ValueError:
        return False  # JSON has no such value


def check(form: DocumentForm, data: Any, document: int, raw: Raw = lambda _: None) -> list[Hit]:
    """The faults of a document by the schema of its form, in the order of paths.

    `data` is from `documents.document`: keys are strings, numbers have at most 20 digits. With `raw`, a
    message shows a number as it is written: 1.30 and not 1.3.
    """
    hits: list[Hit] = []
    if not is_valid(form, data):
        from policygen.spec import schema_errors  # noqa: PLC0415 - only where something is wrong

        errors = _compiled(form.schema).iter_errors(data)
        hits += schema_errors.explain(read(form.schema), errors, data, document, raw)
        if not hits:
            hits.append(
                Hit(
                    UNEXPLAINED_REFUSAL,
                    "this document does not match its schema, but policygen cannot find the wrong field; "
                    "report this bug of policygen, and attach the document",
                    At(document),
                )
            )
    hits += _duplicates(form, data, document)
    return hits


def _duplicates(form: DocumentForm, data: Any, document: int) -> Iterator[Hit]:
    for path, key in KEYED.get(form.schema, ()):
        entries = data
        for step in path:
            entries = entries.get(step) if isinstance(entries, dict) else None
        if not isinstance(entries, list):
            continue
        first: dict[str, int] = {}
        for index, entry in enumerate(entries):
            name = entry.get(key) if isinstance(entry, dict) else None
            if not isinstance(name, str):
                continue
            if name in first:
                yield Hit(
                    DUPLICATE_ENTRY,
                    f"{key} {quoted(name)} is already in entry {first[name] + 1} of this list; remove one of the two entries",
                    At(document, (*path, index, key)),
                )
            first.setdefault(name, index)
