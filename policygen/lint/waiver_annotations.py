"""Waivers in annotations of live objects, for rules that the spec allows.

    policygen.dev/waive-pod-bypasses-queue: "until 2027-03-31: the vendor's operator names no queue"

Anyone who can write an object can write them, so their text is never shown, and they accept findings
about that object only.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from msgspec import Struct

from policygen.core.finding import Finding, dotted
from policygen.core.quoting import counted
from policygen.core.rule import Rule
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Snapshot
from policygen.kubernetes.untyped import keyed_texts

PREFIX = "policygen.dev/waive-"
FORM = '"until YYYY-MM-DD: REASON", or only the reason'
_NO_REASON = "the annotation has no reason"
_UNTIL = re.compile(r"until (\d{4}-\d{2}-\d{2}):")


class Annotated(Struct, frozen=True):
    """A waiver in an annotation."""

    cluster: str
    object: str
    """As findings name it."""
    rule: str
    expires: date | None = None
    """The last day on which it applies; None if it does not expire."""
    fault: str = ""
    """Why it has no effect, if its value is invalid."""


def annotated(snapshot: Snapshot) -> tuple[Annotated, ...]:
    """The waivers in annotations of a cluster."""
    objects = ((it, keyed_texts(it.data, "metadata", "annotations")) for it in snapshot.objects)
    pods = ((pod.object, pod.annotations) for pod in snapshot.pods if pod.annotations)
    context = snapshot.seen.context
    found = (each for it, texts in (*objects, *pods) for each in _of(context, it, texts))
    return tuple(dict.fromkeys(found))  # a pod may also be among the objects


def _of(cluster: str, obj: Object, texts: Mapping[str, str]) -> Iterator[Annotated]:
    for key, value in texts.items():
        if key.startswith(PREFIX):
            expires, fault = _value(value)
            yield Annotated(cluster, str(obj), key.removeprefix(PREFIX), expires, fault)


def _value(text: str) -> tuple[date | None, str]:
    """The last day, and why the value is invalid."""
    text = text.strip()
    match = _UNTIL.match(text)
    if match is None:
        return None, _NO_REASON if text.startswith("until ") or _is_empty(text) else ""
    try:
        expires = date.fromisoformat(match[1])
    except ValueError:
        return None, "the date in the annotation is invalid"
    return expires, _NO_REASON if _is_empty(text[match.end() :]) else ""


def _is_empty(reason: str) -> bool:
    return not any(map(str.isalnum, reason))


def finding_about(rule: Rule, message: str, these: Iterable[Annotated]) -> Finding:
    """A finding about annotations of one rule on one cluster, at the first object."""
    first, *others = these
    annotation = f"annotation {PREFIX}{first.rule}"
    if others:
        annotation = (
            f"annotation {PREFIX}{first.rule} of this and {counted(len(others), 'other object')}"
        )
    return Finding(
        rule,
        f"{annotation}: {message}",
        None,
        first.object,
        path := dotted(("metadata", "annotations", f"{PREFIX}{first.rule}")),
        path,
        cluster=first.cluster,
    )
