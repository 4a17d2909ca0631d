"""What other rules report, for rules that report only what these do not."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from policygen.core.finding import At
from policygen.lint.rule import Facts, NotEvaluatedError, ObjectRule


def places(facts: Facts, rules: Iterable[ObjectRule]) -> Iterator[At]:
    """The places of the hits of those rules that run and can be evaluated."""
    for rule in rules:
        if rule.name in facts.run and rule.needs <= facts.given and rule.holds(facts.target):
            with suppress(NotEvaluatedError):
                yield from (hit.at for hit in rule.check(facts) if hit.at is not None)


def is_inside(at: At, root: At) -> bool:
    """Whether a place is another one, or a part of it."""
    return at.document == root.document and at.path[: len(root.path)] == root.path
