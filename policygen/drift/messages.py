"""Messages about differences: the two values, and who wrote the value on the cluster."""

import json
from collections.abc import Iterator
from string import ascii_letters
from typing import Any

from msgspec import UNSET

from policygen.core import quantity
from policygen.core.amounts import has_unit, readable
from policygen.core.finding import Path, dotted
from policygen.core.quoting import short
from policygen.drift.compare import FieldDifference
from policygen.drift.field_managers import are_known, authors
from policygen.kubernetes.object import Object

NOT_KEPT = "servers do not store who removed the field"


def message(difference: FieldDifference, found: Object, planned: Any) -> str:
    """The difference in one sentence. `planned` is the rendered value, UNSET if nothing is rendered."""
    name = subject(difference)
    who = author(found, difference.path, gone=difference.found is UNSET)
    if difference.reordered:
        return f"{name} has the correct entries, but in another order; {who}"
    if difference.found is UNSET:
        return f"{name} is not set on the cluster, but the spec renders {value(difference.expected)}; {who}"
    there = f"{name} is {value(difference.found)} on the cluster"
    if difference.expected is UNSET:
        return f"{there}, but the spec does not set it; {who}"
    both = amounts(difference, difference.found, difference.expected)
    if planned is UNSET and difference.text is None:
        return (
            f"{there}, but the spec does not set this field, whose default is "
            f"{value(difference.expected)}{both}; {who}"
        )
    return f"{there}, but the spec renders {value(difference.expected)}{both}; {who}"


def amounts(difference: FieldDifference, first: Any, second: Any) -> str:
    """Both quantities for people, if they have different units or too many digits."""
    if not difference.is_quantity:
        return ""
    try:
        read = [quantity.parse(each) for each in (first, second)]
    except ValueError:
        return ""
    texts = [str(each) for each in (first, second)]
    numbers = [text.rstrip(ascii_letters) for text in texts]
    units = {text[len(number) :] for text, number in zip(texts, numbers, strict=True)}
    if len(units) == 1 and max(map(len, numbers)) <= _READABLE:
        return ""
    binary = any(each.format is quantity.Format.BINARY_SI for each in read)
    # The resource is the field itself, or the entry that contains the field.
    names = map(str, difference.named[-2:])
    resource = next(filter(has_unit, names), "memory" if binary else "")
    one, other = (each.value for each in read)
    return f" ({readable(resource, one, other)} and {readable(resource, other, one)})"


def author(found: Object, path: Path, *, gone: bool = False) -> str:
    """Who wrote the value on the cluster, and when."""
    owners = authors(found.data, path, gone=gone)
    if owners:
        others = ", ".join(it.manager for it in owners[1:])
        more = f", also owned by {others}" if others else ""
        if gone:
            return f"the parent of the field was written by {owners[0]}{more}"
        return f"written by {owners[0]}{more}"
    if not are_known(found.data):
        return "the writer is unknown, because the object has no managedFields"
    return NOT_KEPT if gone else "no manager owns the field"


def value(data: Any) -> str:
    """A value as JSON, shortened."""
    return short(json.dumps(data, ensure_ascii=False, default=str))


def subject(difference: FieldDifference) -> str:
    """The subject of a message: `nominalQuota of resource cpu of flavor a100`."""
    return " of ".join([_name(difference.path), *entries(difference)])


def entries(difference: FieldDifference) -> Iterator[str]:
    """The named list entries that contain a field, from the innermost to the outermost."""
    inside = [index for index, step in enumerate(difference.path) if isinstance(step, str)]
    for index in range(inside[-1] if inside else 0, 0, -1):
        if isinstance(difference.path[index], int) and isinstance(difference.named[index], str):
            yield f"{str(difference.path[index - 1]).removesuffix('s')} {difference.named[index]}"


_READABLE = 5
"""Number of digits that are easy to read."""
_IN_MAPPINGS = {"cpu", "memory", "resource"}
"""Keys of mappings of amounts, such as `deserved` and `guarantee.resource`; several fields have them."""
_PARTS = {"labels": "label", "annotations": "annotation"}


def _name(path: Path) -> str:
    """The last key of a path, or of a list entry, with what follows it."""
    if path[:1] == ("metadata",) and path[1] in _PARTS:
        return f"{_PARTS[str(path[1])]} {path[2]}"
    last = max((i for i, step in enumerate(path) if isinstance(step, str)), default=0)
    while last and dotted(path[last:]).startswith("["):
        last -= 1  # a key in brackets is not clear without its parent
    if last and path[last] in _IN_MAPPINGS and isinstance(path[last - 1], str):
        last -= 2 if path[last - 1] == "resource" else 1
    return dotted(path[last:])
