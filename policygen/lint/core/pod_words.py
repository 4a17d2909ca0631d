"""Words of the API in pods whose CRD lists no valid values: Volcano's webhook or the API server checks them.

Source: pkg/webhooks/admission/jobs/validate of Volcano 1.14.1, which runs ValidatePodTemplateSpec.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct

from policygen.api_validation import schemas, workload_code
from policygen.api_validation.refusal import Spot, path_to
from policygen.api_validation.structural import Schema
from policygen.api_validation.workload_code import FieldFacts
from policygen.core.finding import At, FaultAt
from policygen.core.quoting import quoted
from policygen.core.suggest import Names, suggest
from policygen.lint.core.pod_templates import Part

_RESTARTING = ("Always",)
"""The only restartPolicy of init containers: Volcano 1.14 runs code of Kubernetes 1.34."""


class _Words(Struct, eq=False):
    """The valid values of a field, and the fields below it."""

    words: tuple[str, ...]
    below: Mapping[str, "_Words"]
    """Fields by name; "*" for each entry of a list."""


class UnknownWord(NamedTuple):
    """A string in a pod that is not a valid value of its field."""

    at: At
    text: str
    """The start of a message: the owner has it."""
    advice: str
    meant: str
    """The similar word, or an empty text."""


def unknown_words(spec: Part) -> Iterator[UnknownWord]:
    """Such strings. An empty string is the default."""
    found = _valid()
    for spot, value, words in _unknown(spec.data, found, None) if found else ():
        path, names = path_to(spot), Names(words)
        name = path[-1] if isinstance(path[-1], str) else f"{path[-2]}[{path[-1]}]"
        text = f"{spec.owner} has {name} {quoted(value)}"
        yield UnknownWord(spec.at.to(*path), text, suggest(value, names), names.meant(value))


def init_policies(spec: Part) -> Iterator[FaultAt]:
    """The init containers with a restartPolicy that Volcano refuses."""
    for container in spec.items("initContainers"):
        policy = container.data.get("restartPolicy")
        if policy in ("Never", "OnFailure"):
            yield (
                container.at / "restartPolicy",
                f"{spec.owner} has an init container with restartPolicy {policy}, which Volcano refuses; write {_RESTARTING[0]}, or remove restartPolicy",
            )


def _unknown(value: Any, node: _Words, spot: Spot) -> Iterator[tuple[Spot, str, tuple[str, ...]]]:
    if node.words and isinstance(value, str) and value and value not in node.words:
        yield spot, value, node.words
    if isinstance(value, dict):
        for name, below in node.below.items():
            if name in value:
                yield from _unknown(value[name], below, (spot, name))
    elif isinstance(value, list) and (entry := node.below.get("*")):
        for index, inner in enumerate(value):
            yield from _unknown(inner, entry, (spot, index))


@cache
def _valid() -> _Words | None:
    served = schemas.served("v1", "Pod")
    recorded = workload_code.tree()[workload_code.POD]
    return _of_schema(served.schema["properties"]["spec"], recorded) if served else None


def _of_schema(schema: Schema, recorded: FieldFacts | None) -> _Words | None:
    """`recorded`: what `workload_code` checks itself, in Jobs of Volcano too."""
    known = recorded is not None and recorded.fact is not None and recorded.fact.words
    values = schema.get("enum") or schema.get("x-policygen-dropped", ())
    words = () if known else tuple(it for it in values if it)
    parts = {**schema.get("properties", {})}
    if "items" in schema:
        parts["*"] = schema["items"]
    inner = recorded.below if recorded else {}
    below = {
        name: found for name, part in parts.items() if (found := _of_schema(part, inner.get(name)))
    }
    return _Words(words, below) if words or below else None
