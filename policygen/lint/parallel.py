"""Runs rules in two processes. What the other process returns refers to the same rules as here."""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import TypeVar

from policygen.core import processes
from policygen.core.rule import Family, Rule
from policygen.lint.core.metadata_keys import of_domain, written
from policygen.lint.core.pod_templates import pod_specs
from policygen.lint.core.references import references
from policygen.lint.core.server_refusals import (
    refusals,
    refused,
    unsure_pods,
    unsure_templates,
)
from policygen.lint.rule import ObjectRule

T = TypeVar("T")

_OF_REFUSALS: tuple[object, ...] = (refused, refusals, unsure_pods, unsure_templates)
"""Functions that check all objects."""


@contextmanager
def begun(
    function: Callable[[ObjectRule], T], rules: Sequence[ObjectRule]
) -> Iterator[Callable[[], list[T]]]:
    """Yields a function that returns the result for each rule. Meanwhile, the other process begins.

    Rules that use the same indexes are neighbours, so that few indexes are made in both processes.
    """
    by_name = {rule.name: rule for rule in rules}
    shared, own = divided(rules)
    dump, load = partial(_dump, by_name), partial(_load, by_name)
    with processes.begun(function, shared, dump, load) as results:

        def in_order() -> list[T]:
            found = {rule.name: function(rule) for rule in own}
            found |= zip((rule.name for rule in shared), results(), strict=True)
            return [found[rule.name] for rule in rules]

        yield in_order


def divided(rules: Sequence[ObjectRule]) -> tuple[list[ObjectRule], list[ObjectRule]]:
    """The rules for both processes, and those that need the refusals, which only this process knows."""
    shared: list[ObjectRule] = []
    own: list[ObjectRule] = []
    for rule in rules:
        used = rule.check.__globals__.values()
        (own if any(it in used for it in _OF_REFUSALS) else shared).append(rule)
    return sorted(shared, key=_position), own


def _position(rule: ObjectRule) -> tuple[bool, bool, bool, Sequence[str], Sequence[str], str]:
    """A key for sorting.

    Rules that read specs of pods as they are written, or about invalid objects or references that look
    up no kind, are last; most of the others read typed fields. Rules that look up the same kinds use the same indexes, and
    some rules the index of metadata.
    """
    module, used = rule.check.__module__, rule.check.__globals__.values()
    as_written = pod_specs in used or (
        not rule.reads and (rule.family is Family.INVALID or references in used)
    )
    looks_up = bool(rule.reads) and not as_written
    of_metadata = of_domain in used or written in used
    return as_written, not looks_up, not of_metadata, rule.reads, rule.judges, module


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
