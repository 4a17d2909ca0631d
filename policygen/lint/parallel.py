"""Runs rules in two processes. What the other process returns refers to the same rules as here."""

import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import TypeVar

from policygen.core import processes
from policygen.core.rule import Rule
from policygen.lint.rule import ObjectRule

T = TypeVar("T")


def mapped(function: Callable[[ObjectRule], T], rules: Sequence[ObjectRule]) -> list[T]:
    """The result of a function for each rule."""
    by_name = {rule.name: rule for rule in rules}
    return processes.mapped(function, rules, partial(_dump, by_name), partial(_load, by_name))


class _Pickler(pickle.Pickler):
    """Writes rules as their names."""

    def __init__(self, file: BytesIO, rules: Mapping[str, ObjectRule]) -> None:
        super().__init__(file)
        self._rules = rules

    def persistent_id(self, obj: object) -> str | None:
        """The name of a rule; None for other objects."""
        known = isinstance(obj, Rule) and self._rules.get(obj.name) is obj
        return obj.name if known and isinstance(obj, Rule) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, rules: Mapping[str, ObjectRule]) -> None:
        super().__init__(file)
        self._rules = rules

    def persistent_load(self, pid: str) -> ObjectRule:
        """The rule of a name."""
        return self._rules[pid]


def _dump(rules: Mapping[str, ObjectRule], result: object) -> bytes:
    file = BytesIO()
    _Pickler(file, rules).dump(result)
    return file.getvalue()


def _load(rules: Mapping[str, ObjectRule], data: bytes) -> T:  # type: ignore[type-var] # as `function` returned it
    result: T = _Unpickler(BytesIO(data), rules).load()
    return result
