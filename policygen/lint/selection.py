"""Which rules run: all, or those that were named."""

from collections.abc import Iterable

from policygen.core.errors import UsageError
from policygen.lint import registry, waivers
from policygen.lint.rule import ObjectRule


def rules(only: Iterable[str], skip: Iterable[str]) -> list[ObjectRule]:
    """The rules of the catalog that run. Raises UsageError as `names` does."""
    wanted = names(only, skip)
    return [rule for rule in registry.RULES if rule.name in wanted]


def names(only: Iterable[str], skip: Iterable[str]) -> set[str]:
    """The names of what is told of, also of specs. Raises UsageError for a name that is none."""
    wanted = set(map(_known, only)) or set(registry.names())
    wanted -= set(map(_known, skip))
    if not wanted:
        raise UsageError("--skip leaves no rule to run; leave it out, or name another --rule")
    return wanted


def _known(name: str) -> str:
    """The current name of a rule that can be selected. Raises UsageError."""
    rule = registry.find(name)
    if rule is None or not registry.can_be_selected(rule):
        raise UsageError(waivers.unknown(name, registry.names()))
    return rule.name
