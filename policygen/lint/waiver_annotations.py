"""Waivers in annotations of live objects, for rules of which the spec allows it.

    policygen.dev/waive-pod-bypasses-queue: "until 2027-03-31: the vendor's operator names no queue"

Whoever may write an object may write them, so nothing of their text is shown, and they accept findings
about that object only.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from msgspec import Struct

from policygen.core.finding import Finding, dotted
from policygen.core.rule import Rule
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Snapshot
from policygen.kubernetes.untyped import keyed_texts

PREFIX = "policygen.dev/waive-"
FORM = '"until YYYY-MM-DD: REASON", or the reason alone'
_UNTIL = re.compile(r"until (\d{4}-\d{2}-\d{2}):")


class Annotated(Struct, frozen=True):
    """One of them."""

    cluster: str
    object: str
    """As findings name it."""
    rule: str
    expires: date | None = None
    """The last day on which it counts; None: for ever."""
    fault: str = ""
    """Why it waives nothing, if its value is not of the form."""


def annotated(snapshot: Snapshot) -> tuple[Annotated, ...]:
    """Those of a cluster."""
    objects = ((it, keyed_texts(it.data, "metadata", "annotations")) for it in snapshot.objects)
    pods = ((pod.object, pod.annotations) for pod in snapshot.pods if pod.annotations)
    context = snapshot.seen.context
    found = (each for it, texts in (*objects, *pods) for each in _of(context, it, texts))
    return tuple(dict.fromkeys(found))  # a pod may be among the objects, too


def _of(cluster: str, it: Object, texts: Mapping[str, str]) -> Iterator[Annotated]:
    for key, value in texts.items():
        if key.startswith(PREFIX):
            expires, fault = _value(value)
            yield Annotated(cluster, str(it), key.removeprefix(PREFIX), expires, fault)


def _value(text: str) -> tuple[date | None, str]:
    """The last day, and what is wrong."""
    text = text.strip()
    match = _UNTIL.match(text)
    if match is None:
        return None, "gives no reason" if text.startswith("until ") or _is_none(text) else ""
    try:
        expires = date.fromisoformat(match[1])
    except ValueError:
        return None, "names no day of the calendar"
    return expires, "gives no reason" if _is_none(text[match.end() :]) else ""


def _is_none(reason: str) -> bool:
    return not any(map(str.isalnum, reason))


def told(rule: Rule, message: str, these: Iterable[Annotated]) -> Finding:
    """What is wrong with some annotations of one rule on one cluster, told at the first object."""
    first, *others = these
    more = f", like those of {len(others)} other objects" if others else ""
    return Finding(
        rule,
        f"annotation {PREFIX}{first.rule}{more} {message}",
        None,
        first.object,
        path := dotted(("metadata", "annotations", f"{PREFIX}{first.rule}")),
        path,
        cluster=first.cluster,
    )
