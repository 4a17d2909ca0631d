"""An argument of a Volcano plugin is of a type that it does not read, so its default stays."""

from collections.abc import Iterator
from typing import Any

from policygen.core.finding import At, Edit, Hit, Verb
from policygen.core.rule import Severity
from policygen.core.versions import Version
from policygen.documents import kubectl_scalars
from policygen.lint.rule import Facts, Family, Fix, ObjectRule
from policygen.lint.volcano import terms
from policygen.lint.volcano.configuration import all_settings


def check(facts: Facts) -> Iterator[Hit]:
    """A warning is logged each session. Where the scheduler ends, see volcano-scheduler-crashes.

    Source: pkg/scheduler/framework/arguments.go; binpack.go for binpack.resources.
    """
    target = facts.target["volcano"]
    for each in all_settings(facts):
        for plugin in each.plugins:
            for name, value in plugin.arguments.items():
                word = terms.argument(plugin.name, name)
                if word is None or not word.read(target) or word.dies:
                    continue
                if not word.fits(value, target):
                    yield Hit(
                        RULE,
                        f"{name} of plugin {plugin.name} is {value!r}, which it does not take, so "
                        f"its default stays; write {word.sort.value}",
                        plugin.argument_at(name),
                        edits=_edits(plugin.argument_at(name), value, word, target),
                    )


def _edits(at: At, value: Any, word: terms.Word, target: Version) -> tuple[Edit, ...]:
    """The same without its quotes, or with them."""
    if isinstance(value, str):
        plain = kubectl_scalars.read(value)
        if isinstance(plain, int | float) and word.fits(plain, target):
            return (Edit(Verb.REWRITE, at, plain),)
        return ()
    text = word.sort in (terms.Sort.TEXT, terms.Sort.DURATION)
    return (Edit(Verb.QUOTE, at),) if text and isinstance(value, int | float) else ()


RULE = ObjectRule(
    "volcano-argument-mistyped",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
    fix=Fix.UNSAFE,
)
