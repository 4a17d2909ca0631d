"""KEDA refuses the bounds or a Prometheus trigger of a ScaledObject, so it scales nothing."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import Fault
from policygen.core.quoting import quoted
from policygen.kubernetes.core import ScaledObjectView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_REQUIRED = ("serverAddress", "query", "threshold")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
"""A number of JSON, as which KEDA reads a threshold."""
_STEP = 0.001
"""The least threshold: KEDA writes it in thousandths into its HorizontalPodAutoscaler."""
_CLOSING = {")": "(", "]": "[", "}": "{"}


def check(facts: Facts) -> Hits:
    """Of a query, only missing and surplus brackets and quotes are checked.

    Source: KEDA 2.20.2, apis/keda/v1alpha1/scaledobject_types.go, CheckReplicaCountBoundsAreValid
    (webhook and operator); pkg/scalers/prometheus_scaler.go and scalersconfig/typed_config.go.
    """
    for entry in facts.cluster.scaled_objects:
        found = [*_bounds(entry)]
        for i, trigger in enumerate(entry.fields.triggers):
            metadata = mapping(trigger, "metadata")
            for key, reason, remedy in _trigger(trigger, metadata):
                path = ("triggers", i, "metadata", *((key,) if key in metadata else ()))
                found.append((path, f"has a trigger {reason}; {remedy}"))
        for path, message in found:
            yield Hit(RULE, f"{entry} {message}", entry.at.to("spec", *path))


def _bounds(entry: Entry[ScaledObjectView]) -> Iterator[Fault]:
    least, most = entry.fields.min_replica_count, entry.fields.max_replica_count
    idle = entry.fields.idle_replica_count
    has = max(least, 1) if least is not None else 0
    _, bound = entry.fields.bounds
    if has > bound:
        above = (
            f"the default {bound} of maxReplicaCount" if most is None else f"maxReplicaCount {most}"
        )
        yield (
            ("minReplicaCount",),
            f"has minReplicaCount {has} above {above}, which KEDA refuses; write maxReplicaCount of at least {has}",
        )
    if idle is not None and idle >= has:
        written = (
            f"minReplicaCount {has}" if least is not None else "minReplicaCount, which is not set"
        )
        yield (
            ("idleReplicaCount",),
            f"has idleReplicaCount {idle}, which is not below {written}, so KEDA refuses it; write minReplicaCount of at least {idle + 1}, or remove idleReplicaCount",
        )


def _trigger(
    trigger: Mapping[str, Any], metadata: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """For each fault the key, the fault and the remedy."""
    for key, value in metadata.items():
        if isinstance(value, bool | int | float):
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            fault = f"whose {key} is not a text, which the API server refuses"
            yield key, fault, f'write "{shown}" in quotes'
    if trigger.get("type") != "prometheus":
        return
    effect = "so KEDA does not scale"
    for key in _REQUIRED:
        value = metadata.get(key)
        if value is None or (isinstance(value, str) and not value.strip()):
            yield key, f"of type prometheus without {key}, {effect}", f"write {key}"
    threshold, query = metadata.get("threshold"), metadata.get("query")
    if isinstance(threshold, str) and (text := threshold.strip()):
        if not _NUMBER.fullmatch(text):
            fault = f"whose threshold {quoted(text)} is not a number, {effect}"
            yield "threshold", fault, 'write a number in quotes, such as "16"'
        elif float(text) < _STEP:
            fault = f"whose threshold {text} is not positive, {effect}"
            yield "threshold", fault, "write the value that each pod should have"
    if isinstance(query, str) and (sign := _unbalanced(query)):
        yield "query", f"whose query has an unmatched {sign}, {effect}", "correct the query"


def _unbalanced(query: str) -> str:
    """A bracket or quote without its partner; "" if all have one.

    Source: promql/parser/lex.go of Prometheus: quotes " and ' with escapes, ` without, comments after #.
    """
    opened: list[str] = []
    quote, skipped = "", False
    for sign in query:
        if skipped:
            skipped = False
        elif quote == "#":
            quote = "" if sign == "\n" else quote
        elif quote:
            skipped = sign == "\\" and quote != "`"
            quote = "" if sign == quote else quote
        elif sign in "\"'`#":
            quote = sign
        elif sign in "([{":
            opened.append(sign)
        elif sign in _CLOSING and (not opened or opened.pop() != _CLOSING[sign]):
            return sign
    return quote if quote and quote != "#" else "".join(opened[:1])


RULE = ObjectRule(
    "scaled-object-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write maxReplicaCount of at least minReplicaCount, and serverAddress, query and threshold as texts.",
    judges=("ScaledObject",),
    check=check,
)
