"""Which rules run: all, or those that were named."""

from collections.abc import Iterable

from msgspec import Struct

from policygen.core.errors import UsageError
from policygen.lint import registry, waivers
from policygen.lint.rule import ObjectRule


class Selection(Struct, frozen=True):
    """The rules of a run."""

    rules: tuple[ObjectRule, ...]
    """Those that check objects."""
    names: frozenset[str]
    """The names of all selected rules, those about a spec too."""


def select(only: Iterable[str] = (), skip: Iterable[str] = ()) -> Selection:
    """The rules of `only` (none: all) without those of `skip`. Raises UsageError for an unknown name."""
    names = frozenset(map(_known, only)) or frozenset(registry.names())
    names -= frozenset(map(_known, skip))
    if not names:
        raise UsageError(
            "--skip excludes every selected rule; omit --skip, or select another rule with --rule"
        )
    return Selection(tuple(rule for rule in registry.RULES if rule.name in names), names)


def _known(name: str) -> str:
    """The current name of a rule that can be selected. Raises UsageError."""
    rule = registry.find(name)
    if rule is None or not registry.can_be_selected(rule):
        raise UsageError(waivers.unknown(name, registry.names()))
    return rule.name
