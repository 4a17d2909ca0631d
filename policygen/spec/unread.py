"""Names that refused documents may define, so that one fault is not reported twice."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from policygen.core.finding import Finding, Path, at_path
from policygen.documents.rules import AMBIGUOUS_YAML_VALUE, NUMBER_TOO_LONG, YAML_TAG

_NAME = re.compile(r"""\bname["']?[ \t]*:[ \t]*["']?([a-z0-9][-a-z0-9.]*)""")
_PARENT = re.compile(r"""\bparent["']?[ \t]*:[ \t]*["']?([a-z0-9][-a-z0-9.]*)""")
_SETTINGS = re.compile(r"""\bkind["']?[ \t]*:[ \t]*["']?(?:Platform|ConfigMap)\b""")

_NAMED = {
    ("spec", "priorities"): ("priority",),
    ("queues",): ("Team", "priority"),
}
"""Lists whose entries define something that can be referred to, and its kinds."""

_ONE_VALUE = frozenset({AMBIGUOUS_YAML_VALUE, YAML_TAG, NUMBER_TOO_LONG})
"""Rules about one value of a YAML text; other rules may affect more values."""

_SET_DEFAULTS = frozenset({"Platform", "ConfigMap"})


class Unread:
    """Names that refused documents may define: a reference to these is not an error."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        """Every name in such a document, of any kind."""
        self.kinds: set[str] = set()
        """Kinds with an unreadable name, which may be any name; "" for any kind."""
        self.parents: set[str] = set()
        """Teams that have a child in a refused document."""
        self.defined: dict[str, set[str]] = {}
        """Readable names in refused documents, by kind."""
        self.cut = False
        """Whether a part of a text is lost, which may define names of any kind."""
        self.parts: set[int] = set()
        """Documents, by index, that were read except for some values."""
        self.settings = False
        """Whether defaults of all pools may be missing: a Platform, or the ConfigMap of queues, was refused."""

    def document(self, kind: str | None, data: Any, is_refused: Callable[[Path], bool]) -> None:
        """Note a document that was read and refused, completely or in part.

        `kind` is the kind that it defines, None if that is not ours; `is_refused` returns whether the
        value at a path was refused.
        """
        self.settings |= kind is None or kind in _SET_DEFAULTS
        if kind is None or kind not in _SET_DEFAULTS:
            self._named(data, ("metadata",), (kind or "",), is_refused)
        for path, kinds in _NAMED.items():
            entries = at_path(data, path)
            for index in range(len(entries) if isinstance(entries, list) else 0):
                self._named(data, (*path, index), kinds, is_refused)
        if kind == "ConfigMap" and not any(_texts(data)):
            self.kinds.update(_NAMED["queues",])
        for mapping in _mappings(data):
            if isinstance(mapping.get("name"), str):
                self.names.add(mapping["name"])
            if isinstance(mapping.get("parent"), str):
                self.parents.add(mapping["parent"])
        for text in _texts(data):
            self.text(text)

    def _named(
        self, data: Any, path: Path, kinds: tuple[str, ...], is_refused: Callable[[Path], bool]
    ) -> None:
        name = at_path(data, (*path, "name"))
        if not isinstance(name, str) or is_refused((*path, "name")):
            self.kinds.update(kinds)
            return
        for kind in kinds:
            self.defined.setdefault(kind, set()).add(name)

    def lost(self, findings: Iterable[Finding], text: str) -> None:
        """Note the YAML errors of a text: parts of it may be lost."""
        lines = [it.place.text for it in findings if it.place and it.rule not in _ONE_VALUE]
        if lines:
            self.text(text)
        if any("name" in line for line in lines):
            self.kinds.add("")

    def text(self, text: str) -> None:
        """Note a text of which a part is lost."""
        self.cut = True
        self.names.update(_NAME.findall(text))
        self.parents.update(_PARENT.findall(text))
        self.settings |= _SETTINGS.search(text) is not None

    def everything(self) -> None:
        """Note that complete files are missing."""
        self.settings = True
        self.kinds.add("")

    def may_define(self, kind: str, name: str) -> bool:
        """Whether a refused document may define this name for a kind (or for `priority`)."""
        return name in self.names or kind in self.kinds or "" in self.kinds

    def may_have_child(self, team: str) -> bool:
        """Whether a refused document may define a child of a team."""
        return team in self.parents or "" in self.kinds


def _mappings(data: Any) -> Iterator[dict[str, Any]]:
    """Every mapping of a document."""
    stack = [data]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            yield value
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)


def _texts(data: Any) -> Iterator[str]:
    """Every text of a document that may be YAML itself."""
    for mapping in _mappings(data):
        for value in mapping.values():
            if isinstance(value, str) and ":" in value:
                yield value
