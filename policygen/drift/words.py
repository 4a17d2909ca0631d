"""What is said of a difference: the two values, and who wrote the one that is there."""

import json
from typing import Any

from msgspec import UNSET

from policygen.cluster.object import Object
from policygen.drift.authors import are_known, authors
from policygen.drift.compare import Difference
from policygen.finding import Path, dotted
from policygen.spec.echo import short

NOT_KEPT = "who took it away no server keeps"


def said(it: Difference, found: Object, planned: Any) -> str:
    """The difference in a sentence; `planned` is what the render says there, UNSET for nothing."""
    name = _name(it.path)
    who = author(found, it.path, gone=it.found is UNSET)
    if it.reordered:
        return f"{name} has the right entries in another order; {who}"
    if it.found is UNSET:
        return f"{name} is not on the cluster, and the spec renders {value(it.wanted)}; {who}"
    there = f"{name} is {value(it.found)} on the cluster"
    if it.wanted is UNSET:
        return f"{there}, and the spec renders nothing there; {who}"
    if planned is UNSET and it.text is None:
        return f"{there}, and the spec leaves it at {value(it.wanted)}; {who}"
    return f"{there}, and the spec renders {value(it.wanted)}; {who}"


def author(found: Object, path: Path, *, gone: bool = False) -> str:
    """Who wrote what is there, and when."""
    owners = authors(found.data, path, gone=gone)
    if owners:
        others = ", ".join(it.manager for it in owners[1:])
        more = f", and owned by {others} too" if others else ""
        what = "what it stood in was " if gone else ""
        return f"{what}written by {owners[0]}{more}"
    if not are_known(found.data):
        return "who wrote it is not known, since the object came without managedFields"
    return NOT_KEPT if gone else "no manager owns it"


def value(it: Any) -> str:
    """A value as JSON, shortened."""
    return short(json.dumps(it, ensure_ascii=False, default=str))


_PARTS = {"labels": "label", "annotations": "annotation"}


def _name(path: Path) -> str:
    """The end of a path that says enough: the last key, and what of a list it is in."""
    if path[:1] == ("metadata",) and path[1] in _PARTS:
        return f"{_PARTS[str(path[1])]} {path[2]}"
    last = max((i for i, step in enumerate(path) if isinstance(step, str)), default=0)
    while last and dotted(path[last:]).startswith("["):
        last -= 1  # a key that is no word says nothing alone
    return dotted(path[last:])
