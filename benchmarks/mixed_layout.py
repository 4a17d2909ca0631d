"""A YAML writer that gives each document another layout, as different people would."""

import json
import random
import re
from collections.abc import Iterator
from typing import Any

WORDS = (
    *("amber", "birch", "cedar", "delta", "ember", "fjord", "grove"),
    *("haze", "iris", "jade", "kelp", "lotus", "mango", "noble"),
)
"""The words of names, comments and file names."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS_OF_YAML = frozenset({"y", "yes", "n", "no", "on", "off", "true", "false", "null"})


class Layout:
    """How the writer of one document lays it out."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.step = draw.choice([2, 2, 2, 4])
        self.indents_lists = draw.random() < 0.5
        self.quotes = draw.choice([0.0, 0.1, 0.5])
        self.comments = draw.choice([0.0, 0.02, 0.1])
        self.flow = draw.choice([0.0, 0.2, 0.6])
        self.shuffles = draw.random() < 0.3

    def document(self, it: Any) -> str:
        """The text of one document."""
        head = f"# Source: charts/{self.draw.choice(WORDS)}/templates/{it['kind'].lower()}.yaml\n"
        begin = head if self.draw.random() < 0.3 else ""
        return begin + "\n".join(self.mapping(it, 0)) + "\n"

    def mapping(self, value: dict[str, Any], indent: int) -> Iterator[str]:
        """The lines of a mapping."""
        entries = list(value.items())
        if self.shuffles:
            self.draw.shuffle(entries)
        for key, entry in entries:
            if self.draw.random() < self.comments:
                yield f"{' ' * indent}# {self.draw.choice(WORDS)}: see ticket {self.draw.randint(1, 999)}"
            yield from self.entry(f"{' ' * indent}{self.scalar(key, key=True)}:", entry, indent)

    def entry(self, head: str, value: Any, indent: int) -> Iterator[str]:
        """The lines of a value behind its key."""
        tail = f"  # {self.draw.choice(WORDS)}" if self.draw.random() < self.comments else ""
        if not isinstance(value, dict | list):
            if isinstance(value, str) and "\n" in value:
                yield f"{head} |"
                yield from (f"{' ' * (indent + self.step)}{line}" for line in value.splitlines())
            else:
                yield f"{head} {self.scalar(value)}{tail}"
        elif not value or (self.is_short(value) and self.draw.random() < self.flow):
            yield f"{head} {self.in_flow(value)}{tail}"
        elif isinstance(value, dict):
            yield f"{head}{tail}"
            yield from self.mapping(value, indent + self.step)
        else:
            yield f"{head}{tail}"
            yield from self.sequence(value, indent + (self.step if self.indents_lists else 0))

    def sequence(self, value: list[Any], indent: int) -> Iterator[str]:
        """The lines of a list."""
        for each in value:
            if isinstance(each, dict) and each:
                lines = list(self.mapping(each, indent + 2))
                while lines[0].lstrip().startswith("#"):
                    lines.pop(0)
                yield f"{' ' * indent}- {lines[0].lstrip()}"
                yield from lines[1:]
            else:
                yield f"{' ' * indent}- {self.in_flow(each)}"

    def is_short(self, value: Any) -> bool:
        """Whether a collection fits on a line."""
        inner = value.values() if isinstance(value, dict) else value
        return len(value) < 5 and not any(isinstance(it, dict | list) for it in inner)

    def in_flow(self, value: Any) -> str:
        """A value on one line."""
        if isinstance(value, dict):
            pairs = (f"{self.scalar(k, key=True)}: {self.in_flow(v)}" for k, v in value.items())
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.in_flow, value)) + "]"
        return self.scalar(value)

    def scalar(self, value: Any, *, key: bool = False) -> str:
        """A scalar, plain or in quotes."""
        if not isinstance(value, str):
            return json.dumps(value)
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS_OF_YAML
        if plain and (key or self.draw.random() >= self.quotes):
            return value
        if self.draw.random() < 0.3 and "'" not in value:
            return f"'{value}'"
        return json.dumps(value)
