"""What is told to the user about an input: where it is, how bad, and what to write instead."""

from enum import StrEnum
from typing import Any, Final, NamedTuple

from policygen.core.rule import Rule, Severity

Path = tuple[str | int, ...]
"""A way into a document: mapping keys and sequence indexes, from its root."""


def dotted(path: Path) -> str:
    """A path as people write it: `spec.resourceGroups[0].flavors`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step and all(char.isalnum() or char in "_-" for char in step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text


def at_path(data: Any, path: Path) -> Any:
    """What stands at a path of data that nobody has checked; None for nothing."""
    for step in path:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def named(data: Any, path: Path) -> Path:
    """A path into data with the names of list entries, where they have one, for their numbers."""
    steps: list[str | int] = []
    for step in path:
        try:
            data = data[step]
        except (LookupError, TypeError):
            data = None
        entry = data if isinstance(step, int) and isinstance(data, dict) else {}
        name = entry.get("name", entry.get("schedulerName"))  # as a scheduler's profile has it
        steps.append(name if isinstance(name, str) else step)
    return tuple(steps)


class Verdict(StrEnum):
    """How a rule ended."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    VACUOUS = "vacuous"
    """There was nothing to judge."""
    NOT_EVALUATED = "not evaluated"
    """What it needs was not given, or could not be read."""
    CRASHED = "crashed"
    """Our bug."""


class At(NamedTuple):
    """A symbolic place: a document of the input by its index, and a path into it.

    `key` means the key that ends the path and not its value. A path that does not
    exist in the document stands for its longest prefix that does.
    """

    document: int
    path: Path = ()
    key: bool = False

    def __truediv__(self, step: str | int) -> "At":
        """The place one step below this one."""
        return At(self.document, (*self.path, step))

    def to(self, *steps: str | int) -> "At":
        """The place some steps below this one."""
        return At(self.document, (*self.path, *steps))

    def on_key(self) -> "At":
        """The same place, meaning its key."""
        return At(self.document, self.path, key=True)


class Verb(StrEnum):
    """What an Edit does."""

    REWRITE = "rewrite"
    """The scalar becomes `to`."""
    QUOTE = "quote"
    """A number or truth value becomes the text that it is written as: `1.10`, `yes`."""
    RENAME = "rename"
    """The key that ends the path becomes `to`; its value stays."""
    REMOVE = "remove"
    """The key with its value, or the entry of a list, goes."""
    NEST = "nest"
    """The value becomes the only entry of a mapping: `a` becomes `{to: a}`."""
    ADD = "add"
    """A key with the value `to` comes last into a mapping; those above it are made if need be."""


class Edit(NamedTuple):
    """A change of a document: symbolic, and becomes text where the text is known.

    Its path is that of the document as it was read, whatever other edits do; several may have
    one path.
    """

    verb: Verb
    at: At
    to: str | int | float | bool = ""


THERE: Final = "{there}"
"""Stands in a message for the place of the first of `related`, which only the edge knows."""


class Hit(NamedTuple):
    """A rule found something, at a symbolic place; becomes a Finding when it is located."""

    rule: Rule
    message: str
    """What is wrong and what to write instead, one line, no final stop."""
    at: At | None = None
    """None: the input as a whole."""
    related: tuple[At, ...] = ()
    """Other places that it is about."""
    edits: tuple[Edit, ...] = ()
    """The edits that fix it, if the fix is certain; apply all of them or none."""
    command: str = ""
    """A shell command that fixes it on the cluster."""


class Place(NamedTuple):
    """A concrete place in a text: lines and columns count from 1."""

    file: str
    line: int = 0
    """0: the file as a whole."""
    column: int = 0
    length: int = 0
    """How many characters of `text` from `column` on are meant."""
    text: str = ""
    """The whole line, for showing it."""


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
    """The severity that the spec's `lint.severities` gives the rule; None: the rule's own."""

    @property
    def severity(self) -> Severity:
        """The severity that counts."""
        return self.rule.severity if self.configured is None else self.configured
