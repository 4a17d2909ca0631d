"""What the code of an API server refuses in pods and workloads beyond their schemas.

`schemas/cluster/code.json` has it by kind and field, recorded from a running server: bounds, values,
forms of strings, lists that must not be empty, fields of which at least one is required.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from ipaddress import ip_address
from typing import Any

import msgspec
from msgspec import Struct

from policygen.api_validation import schemas
from policygen.api_validation.metadata import is_namespace, is_subdomain
from policygen.api_validation.refusal import Spot, path_to
from policygen.core import quantity
from policygen.core.decoding import decode
from policygen.core.finding import Fault, dotted
from policygen.core.label_grammar import (
    DNS_LABEL,
    ENDS,
    SUBDOMAIN,
    config_key_fault,
    key_fault,
    value_fault,
)
from policygen.core.quoting import listed, quoted, shown
from policygen.core.suggest import suggest

FILE = "code.json"
"""Below `schemas/cluster`."""
POD = "v1 Pod"
"""The kind whose fields a pod template has, too."""

_PORT = re.compile(r"(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_LONGEST_PORT = 15
_LONGEST = 253
_VARIABLE = re.compile(r"[ -<>-~]+")
_WORD = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_BYTE = "(25[0-5]|(2[0-4]|1[0-9]|[1-9]?)[0-9])"
_FILE_PATH = "[-A-Za-z0-9_]+([./][-A-Za-z0-9_]+)*"


class StringForm(Struct, frozen=True, eq=False):
    """The required form of a string."""

    takes: Callable[[str], bool]
    advice: str
    """What to write."""
    schema: Mapping[str, Any]
    """A JSON Schema that accepts only such strings."""


def _no_step_up(text: str) -> bool:
    return ".." not in text.split("/")


def _is_ip(text: str) -> bool:
    try:
        return "%" not in text and bool(ip_address(text))
    except ValueError:
        return False


FORMS: Mapping[str, StringForm] = {
    "DNS label": StringForm(
        is_namespace,
        f'lower-case letters, digits and "-", at most 63, {ENDS}',
        {"pattern": f"^{DNS_LABEL}$", "maxLength": 63},
    ),
    "DNS subdomain": StringForm(
        is_subdomain,
        f'lower-case letters, digits, "-" and ".", {ENDS}',
        {"pattern": f"^{SUBDOMAIN}$", "maxLength": _LONGEST},
    ),
    "label key": StringForm(
        lambda text: not key_fault(text),
        f'letters, digits, "-", "_" and ".", {ENDS}',
        {"pattern": f"^({SUBDOMAIN}/)?{_WORD}$", "maxLength": 63},
    ),
    "label value": StringForm(
        lambda text: not value_fault(text),
        f'at most 63 letters, digits, "-", "_" and ".", {ENDS}',
        {"pattern": f"^{_WORD}$", "maxLength": 63},
    ),
    "port name": StringForm(
        lambda text: len(text) <= _LONGEST_PORT and bool(_PORT.fullmatch(text)),
        'at most 15 lower-case letters, digits and "-", at least one of them a letter',
        {"pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$", "maxLength": _LONGEST_PORT},
    ),
    "key of a ConfigMap": StringForm(
        lambda text: not config_key_fault(text),
        'letters, digits, "-", "_" and "."',
        {"pattern": "^[-_a-zA-Z0-9][-._a-zA-Z0-9]*$", "maxLength": _LONGEST},
    ),
    "name of an environment variable": StringForm(
        lambda text: bool(_VARIABLE.fullmatch(text)),
        'ASCII characters without "="',
        {"pattern": f"^{_VARIABLE.pattern}$"},
    ),
    "relative path": StringForm(
        lambda text: not text.startswith("/") and _no_step_up(text),
        'a path that does not begin with "/" and does not contain ".."',
        {"pattern": f"^{_FILE_PATH}$"},
    ),
    "path without ..": StringForm(
        _no_step_up, 'a path that does not contain ".."', {"pattern": f"^/?{_FILE_PATH}$"}
    ),
    "IP address": StringForm(
        _is_ip, "an address such as 10.0.0.1", {"pattern": rf"^{_BYTE}(\.{_BYTE}){{3}}$"}
    ),
    "absolute path": StringForm(
        lambda text: text.startswith("/"), 'a path that begins with "/"', {"pattern": "^/"}
    ),
}
"""By name; a field has the first form that fits the server's answers."""


class Fact(Struct, frozen=True, eq=False, rename="camel", omit_defaults=True):
    """The values that one field accepts."""

    minimum: int | None = None
    """The smallest number or quantity."""
    maximum: int | None = None
    words: tuple[str, ...] = ()
    """The only accepted strings."""
    form: str = ""
    """The form of a string that is not empty: a name in FORMS."""
    filled: bool = False
    """Whether a string or list must not be empty."""
    some_of: tuple[str, ...] = ()
    """Fields of a mapping of which at least one is required."""


class FieldFacts(Struct, eq=False):
    """The fact of a field, and the fields below it."""

    fact: Fact | None = None
    below: dict[str, "FieldFacts"] = msgspec.field(default_factory=dict)
    """Fields by name; "*" for each entry of a list."""


def faults(data: Mapping[str, Any], kind: str, subject: object) -> Sequence[Fault]:
    """The refusals of an object's `spec`, for the kinds of `code.json`; empty for other kinds.

    Each message begins with `subject`, the object.
    """
    node, found = tree().get(kind), list[Fault]()
    if node is not None:
        _add_faults(data, node, None, subject, found)
    return found


def known() -> Mapping[str, Mapping[str, Fact]]:
    """The facts by kind (`apps/v1 Deployment`), and by field below `spec`."""
    text = (schemas.folder() / FILE).read_bytes()
    return decode(text, dict[str, dict[str, Fact]])


@cache
def tree() -> Mapping[str, FieldFacts]:
    """The facts by kind, as a tree of the fields below `spec`."""
    roots: dict[str, FieldFacts] = {}
    for kind, fields in known().items():
        root = roots[kind] = FieldFacts()
        for field_path, fact in fields.items():
            node = root
            for step in field_path.split("."):
                node = node.below.setdefault(step, FieldFacts())
            node.fact = fact
        containers = root.below.get("containers")
        if containers is not None:  # init containers are checked like containers
            root.below["initContainers"] = FieldFacts(None, containers.below)
    return roots


def _add_faults(
    value: Any, node: FieldFacts, spot: Spot, subject: object, found: list[Fault]
) -> None:
    if node.fact is not None:
        message = _message(value, node.fact, spot, subject)
        if message:
            found.append((path_to(spot), message))
    below = node.below
    if not below:
        return
    if isinstance(value, dict):
        for name, entry in value.items():
            inner = below.get(name)
            if inner is not None:
                _add_faults(entry, inner, (spot, name), subject, found)
    elif isinstance(value, list) and (inner := below.get("*")):
        for index, entry in enumerate(value):
            _add_faults(entry, inner, (spot, index), subject, found)


def _name(spot: Spot) -> str:
    """A field with the one above it: `ordinals.start`, `volumes[0].name`."""
    path = path_to(spot)
    fields = [index for index, step in enumerate(path) if isinstance(step, str)]
    return dotted(path[fields[max(0, len(fields) - 2)] :])


def _message(value: Any, fact: Fact, spot: Spot, subject: object) -> str:
    """The fault of a value and what to write; empty if it has no fault or a wrong type."""
    if isinstance(value, str) and fact.minimum is None and fact.maximum is None:
        return _of_text(value, fact, spot, subject)
    if isinstance(value, dict):
        if fact.some_of and all(value.get(each) is None for each in fact.some_of):
            fields = listed(list(fact.some_of), "or")
            return f"{subject} has {_name(spot)} without {fields}, which the API server refuses; write one of these fields"
        return ""
    if isinstance(value, list):
        return (
            f"{subject} has an empty {_name(spot)}, which the API server refuses; add an entry"
            if fact.filled and not value
            else ""
        )
    number = _number(value, fact) if fact.minimum is not None or fact.maximum is not None else None
    if number is None:
        return _of_text(value, fact, spot, subject) if isinstance(value, str) else ""
    low, high = fact.minimum, fact.maximum
    if (low is None or number >= low) and (high is None or number <= high):
        return ""
    advice = f"{low} or more" if high is None else f"at most {high}"
    if low is not None and high is not None:
        advice = f"{low} to {high}" if low < high else f"{low}"
    return f"{subject} has {_name(spot)} {value}, which the API server refuses; write {advice}"


def _number(value: Any, fact: Fact) -> Any:
    """A number, or the amount of a quantity; None for other values."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and fact.minimum is not None and not fact.form:
        try:
            return quantity.read(value).value
        except ValueError:
            return None
    return None


def _of_text(value: str, fact: Fact, spot: Spot, subject: object) -> str:
    if not value:
        if not fact.filled:
            return ""
        return f"{subject} has an empty {_name(spot)}, which the API server refuses; write a value"
    if fact.words and value not in fact.words:
        return f"{subject} has {_name(spot)} {shown(value)}, which the API server refuses; {suggest(value, fact.words)}"
    if fact.form and not FORMS[fact.form].takes(value):
        advice = FORMS[fact.form].advice
        return f"{subject} has {_name(spot)} {quoted(value)}, which the API server refuses; write {advice}"
    return ""
