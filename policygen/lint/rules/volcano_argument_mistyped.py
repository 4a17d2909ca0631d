"""An argument of a Volcano plugin is of a type that it does not read, so its default stays."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint import volcano_words
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.lint.volcano_settings import all_settings


def check(facts: Facts) -> Iterator[Claim]:
    """A warning is logged each session. Where the scheduler ends, see volcano-scheduler-crashes.

    Source: pkg/scheduler/framework/arguments.go; binpack.go for binpack.resources.
    """
    target = facts.target["volcano"]
    for each in all_settings(facts):
        for plugin in each.plugins:
            for name, value in plugin.arguments.items():
                word = volcano_words.argument(plugin.name, name)
                if word is None or not word.read(target) or word.dies:
                    continue
                if not word.fits(value, target):
                    yield Claim(
                        f"{name} of plugin {plugin.name} is {value!r}, which it does not take, so "
                        f"its default stays; write {word.sort.value}",
                        plugin.argument_at(name),
                    )


RULE = Rule(
    "volcano-argument-mistyped",
    Severity.ERROR,
    Family.INERT,
    judges=("volcano-scheduler.conf",),
    check=check,
)
