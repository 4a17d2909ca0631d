"""Findings about an input: the place, the rule, and what to write instead."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final, NamedTuple

from policygen.core.rule import Rule, Severity

Path = tuple[str | int, ...]
"""A path into a document: mapping keys and sequence indexes, from its root."""
Fault = tuple[Path, str]
"""A path below an object and a message, of which a rule makes a Hit."""


def dotted(path: Path) -> str:
    """A path as text: `spec.resourceGroups[0].flavors`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step and (
            not (letters := step.replace("_", "").replace("-", "")) or letters.isalnum()
        ):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text


def pointer(path: Path) -> str:
    """A path as a JSON pointer (RFC 6901)."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "".join(f"/{step}" for step in steps)


def at_path(data: Any, path: Path) -> Any:
    """The value at a path of unchecked data; None if it does not exist."""
    for step in path:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def named(data: Any, path: Path) -> Path:
    """A path into data, with names of list entries instead of indexes, if they have a name."""
    steps: list[str | int] = []
    for step in path:
        try:
            data = data[step]
        except (LookupError, TypeError):
            data = None
        entry = data if isinstance(step, int) and isinstance(data, dict) else {}
        name = entry.get("name", entry.get("schedulerName"))  # profiles have a schedulerName
        steps.append(name if isinstance(name, str) else step)
    return tuple(steps)


class Verdict(StrEnum):
    """The result of a rule."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    VACUOUS = "vacuous"
    """There was nothing to check."""
    NOT_EVALUATED = "not evaluated"
    """Input that it needs is missing, or could not be read."""
    CRASHED = "crashed"
    """The rule has a bug."""


class At(NamedTuple):
    """A symbolic place: a document of the input by its index, and a path into it.

    With `key`, the place is the last key of the path, not its value. A path that does not exist in
    the document means its longest existing prefix.
    """

    document: int
    path: Path = ()
    key: bool = False

    def __truediv__(self, step: str | int) -> "At":
        """The place one step below this one."""
        return At(self.document, (*self.path, step))

    def to(self, *steps: str | int) -> "At":
        """The place several steps below this one."""
        return At(self.document, (*self.path, *steps))

    def on_key(self) -> "At":
        """The key of this place."""
        return At(self.document, self.path, key=True)


FaultAt = tuple[At, str]
"""A place and a message, of which a rule makes a Hit."""


@dataclass(frozen=True, slots=True)
class NewMapping:
    """A mapping that an Edit writes."""

    entries: tuple[tuple[str, "NewValue"], ...]


NewValue = str | int | float | bool | tuple["NewValue", ...] | NewMapping
"""What an Edit writes. A tuple becomes a list; only ADD, NEST and REWRITE write lists and mappings."""


class Verb(StrEnum):
    """The kind of change of an Edit."""

    REWRITE = "rewrite"
    """The scalar, null, or an empty mapping or list becomes `to`."""
    QUOTE = "quote"
    """A number or boolean becomes the text as it is written: `1.10`, `yes`."""
    RENAME = "rename"
    """The last key of the path becomes `to`; its value stays."""
    REMOVE = "remove"
    """The key with its value, or the list entry, is removed."""
    NEST = "nest"
    """The value becomes an entry of a mapping: `a` becomes `{to: a}`.

    If `to` is a mapping, the value becomes that of its last key, below the other entries.
    """
    ADD = "add"
    """A key with the value `to` is added to a mapping, or an entry to a list, as last.

    The path ends with the number of the entry. Missing parents are created as mappings.
    """


class Edit(NamedTuple):
    """A symbolic change of a document, which becomes a change of its text later.

    Its path is a path in the original document, independent of other edits. Several edits can have
    the same path.
    """

    verb: Verb
    at: At
    to: NewValue = ""


THERE: Final = "{there}"
"""A placeholder in a message for the place of the next of `related`, which is located later."""


class Exceeded(NamedTuple):
    """A limit of which an amount in an object has too much."""

    object: At
    """The root of the object."""
    resource: str
    most: Fraction
    """The largest amount that the limit allows, of all pods together if not `of_pod`."""
    limit: str
    """The limit, as the end of another message: `ClusterQueue a can have at most 48`."""
    of_pod: bool = False
    """Whether the limit is about each pod, or each container."""
    pods: int = 0
    """The number of pods that request the amount together; 0: unknown, or `of_pod`."""
    owner: str = ""
    """The object in messages, if the hit is about several objects."""


class Difference(NamedTuple):
    """A field of an object that is missing, or has another value than the spec decides."""

    object: At
    """The root of the object."""
    text: str
    """The missing field with its value, or what is wrong."""
    at: At | None = None
    """The wrong value; None if the field is missing."""
    remedy: str = ""
    """What to do about a wrong value."""
    rules: tuple[str, ...] = ()
    """The names of rules that report a consequence of it in the same object."""


class Hit(NamedTuple):
    """A fault that a rule found, at a symbolic place; becomes a Finding when it is located."""

    rule: Rule
    message: str
    """What is wrong and what to write instead, one line, no final stop."""
    at: At | None = None
    """None for the complete input."""
    related: tuple[At, ...] = ()
    """Other places that it is about."""
    edits: tuple[Edit, ...] = ()
    """The edits that fix it, if the fix is certain; apply all of them or none."""
    command: str = ""
    """A shell command that fixes it on the cluster."""
    exceeds: tuple[Exceeded, ...] = ()
    """The limits that it reports; hits about the same amount are joined."""
    differences: tuple[Difference, ...] = ()
    """What it lists; hits of other rules about the same differences are omitted."""
    meant: tuple[Edit, ...] = ()
    """What was probably meant. All rules check the input with these edits too, and only what they find
    with and without the edits is reported, besides this hit."""
    severity: Severity | None = None
    """That of a worse finding that follows from it and is not reported; None: the severity of the rule."""


class Place(NamedTuple):
    """A concrete place in a text: lines and columns count from 1."""

    file: str
    line: int = 0
    """0 for the complete file."""
    column: int = 0
    length: int = 0
    """Number of characters of `text` from `column` on."""
    text: str = ""
    """The complete line, to show it."""


class Related(NamedTuple):
    """Another object that a finding is about."""

    object: str
    place: Place | None = None


class Finding(NamedTuple):
    """A Hit with a concrete place, as it is reported."""

    rule: Rule
    message: str
    place: Place | None = None
    object: str = ""
    """The object that it is about: `LocalQueue team-a/a100`."""
    path: str = ""
    """The field of the object: `spec.clusterQueue`."""
    anchor: str = ""
    """The same path with names of list items instead of indexes, so that reordering keeps it."""
    related: tuple[Related, ...] = ()
    cluster: str = ""
    """The context of the cluster where it was found; empty for files."""
    edits: tuple[Edit, ...] = ()
    """The edits that fix it, if the fix is certain; apply all of them or none."""
    command: str = ""
    """A shell command that fixes it on the cluster."""
    configured: Severity | None = None
    """The severity that the spec's `lint.severities` gives the rule, or that of an unreported consequence.

    None: the severity of the rule."""

    @property
    def severity(self) -> Severity:
        """The severity that is reported."""
        return self.rule.severity if self.configured is None else self.configured
