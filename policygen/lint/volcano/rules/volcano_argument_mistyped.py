"""An argument of a Volcano plugin has the wrong type, so its default is used."""

from typing import Any

from policygen.core.finding import At
from policygen.core.quoting import shown
from policygen.core.versions import Version
from policygen.documents import kubectl_scalars
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb
from policygen.lint.volcano import terms
from policygen.lint.volcano.configuration import plugins


def check(facts: Facts) -> Hits:
    """Volcano logs a warning in each session. See also volcano-scheduler-crashes.

    Source: pkg/scheduler/framework/arguments.go; binpack.go for binpack.resources.
    """
    target = facts.target["volcano"]
    for plugin in plugins(facts):
        for name, value, parameter in terms.mistyped(plugin.name, plugin.arguments, target):
            if not parameter.crashes:
                yield Hit(
                    RULE,
                    f"{name} of plugin {plugin.name} is {shown(value)}, which Volcano ignores, so the default applies; write "
                    f"{parameter.type.value}",
                    plugin.argument_at(name),
                    edits=_edits(plugin.argument_at(name), value, parameter, target),
                )


def _edits(at: At, value: Any, parameter: terms.Parameter, target: Version) -> tuple[Edit, ...]:
    """Adds or removes the quotes of the value, if that fixes it."""
    if isinstance(value, float) and value.is_integer() and parameter.type is terms.ValueType.WHOLE:
        return (Edit(Verb.REWRITE, at, int(value)),)
    if isinstance(value, str):
        plain = kubectl_scalars.read(value)
        if isinstance(plain, int | float) and parameter.fits(plain, target):
            return (Edit(Verb.REWRITE, at, plain),)
        return ()
    text = parameter.type in (terms.ValueType.TEXT, terms.ValueType.DURATION)
    return (Edit(Verb.QUOTE, at),) if text and isinstance(value, int | float) else ()


RULE = ObjectRule(
    "volcano-argument-mistyped",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the type that the message names.",
    judges=("volcano-scheduler.conf",),
    check=check,
    fix=Fix.UNSAFE,
)
