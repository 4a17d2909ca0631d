"""Examples of rule pages: the bad one does harm on real servers, and the good one does not."""

from __future__ import annotations

from tests.examples_of_rules import examples


def bad(rule: str, number: int = 0) -> str:
    """The text of a page's bad example."""
    return _example(rule, number, good=False)


def good(rule: str, number: int = 0) -> str:
    """The text of a page's good example."""
    return _example(rule, number, good=True)


def _example(rule: str, number: int, *, good: bool) -> str:
    return examples(rule, good=good)[number].text
