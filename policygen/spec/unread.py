"""What documents that could not be read may have said, so that one fault is not reported twice."""

import re
from collections.abc import Iterator
from typing import Any

_NAME = re.compile(r"""\bname["']?[ \t]*:[ \t]*["']?([a-z0-9][-a-z0-9.]*)""")
_PARENT = re.compile(r"""\bparent["']?[ \t]*:[ \t]*["']?([a-z0-9][-a-z0-9.]*)""")
_SETTINGS = re.compile(r"""\bkind["']?[ \t]*:[ \t]*["']?(?:Platform|ConfigMap)\b""")

_DEFINED_IN = {"Platform": ("priority",), "ConfigMap": ("Team", "priority")}
"""Kinds of document that define things of other kinds."""


class Unread:
    """What may be behind a refused document: a reference to that is no error of its own."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        """Everything that such a document names, of whatever kind."""
        self.kinds: set[str] = set()
        """Kinds of which one has no readable name, so that it may be any; "" for any kind."""
        self.parents: set[str] = set()
        """Teams that have a child among the refused."""
        self.settings = False
        """Whether defaults of all pools may be among it: a Platform, or the ConfigMap of queues."""

    def document(self, kind: str | None, name: str | None, data: Any) -> None:
        """Take note of a document that was read and refused; `kind` is None if it is none of ours."""
        self.settings |= kind is None or kind in _DEFINED_IN
        if name:
            self.names.add(name)
        else:
            self.kinds.add(kind or "")
        for entry in _mappings(data):
            if isinstance(entry.get("name"), str):
                self.names.add(entry["name"])
            if isinstance(entry.get("parent"), str):
                self.parents.add(entry["parent"])
            for text in entry.values():
                if isinstance(text, str) and ":" in text:
                    self.text(text)
        if kind in _DEFINED_IN and any(
            "name" not in entry for entry in _entries(data, "priorities", "queues")
        ):
            self.kinds.update(_DEFINED_IN[kind])

    def text(self, text: str) -> None:
        """Take note of a text in which some document is no YAML."""
        self.names.update(_NAME.findall(text))
        self.parents.update(_PARENT.findall(text))
        self.settings |= _SETTINGS.search(text) is not None

    def everything(self) -> None:
        """Take note that whole files are missing."""
        self.settings = True
        self.kinds.add("")

    def may_define(self, kind: str, name: str) -> bool:
        """Whether a kind of ours (or `priority`) of this name may be among the refused."""
        return name in self.names or kind in self.kinds or "" in self.kinds

    def may_have_child(self, team: str) -> bool:
        """Whether a team may have a child team among the refused."""
        return team in self.parents or "" in self.kinds


def _mappings(data: Any) -> Iterator[dict[str, Any]]:
    """Every mapping of a document."""
    stack = [data]
    while stack:
        it = stack.pop()
        if isinstance(it, dict):
            yield it
            stack.extend(it.values())
        elif isinstance(it, list):
            stack.extend(it)


def _entries(data: Any, *keys: str) -> Iterator[dict[str, Any]]:
    """The mappings in the lists under a key, wherever it stands."""
    for mapping in _mappings(data):
        for key in keys:
            entries = mapping.get(key)
            if isinstance(entries, list):
                yield from (entry for entry in entries if isinstance(entry, dict))
