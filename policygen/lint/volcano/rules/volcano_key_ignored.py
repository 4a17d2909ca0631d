"""A key or argument of Volcano's scheduler configuration is read by nothing."""

from collections.abc import Iterable, Iterator

from policygen.core.finding import At, Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.core.versions import Version
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import terms
from policygen.lint.volcano.configuration import Placed, all_settings


def check(facts: Facts) -> Iterator[Hit]:
    """The file is decoded without looking at unknown keys; arguments are asked for by name.

    Source: pkg/scheduler/conf/scheduler_conf.go, pkg/scheduler/util.go, and each plugin's file.
    """
    target = facts.target["volcano"]
    for each in all_settings(facts):
        data = each.entry.object.data
        yield from _unknown(data, terms.TOP, each.entry.at)
        for i, tier in enumerate(data.get("tiers") or ()):
            yield from _unknown(tier, terms.TIER, each.entry.at.to("tiers", i))
        for plugin in each.plugins:
            keys = (*terms.PLUGIN, *terms.switches(target))
            yield from _unknown(plugin.fields, keys, plugin.at)
            if plugin.name in terms.PLUGINS:
                yield from _arguments(plugin, target)


def _unknown(keys: Iterable[str], known: Iterable[str], at: At) -> Iterator[Hit]:
    for key in keys:
        if key not in known:
            yield Hit(
                RULE,
                f'"{key}" is read by nothing here; {suggest(str(key), known)}',
                (at / key).on_key(),
            )


def _arguments(plugin: Placed, target: Version) -> Iterator[Hit]:
    for name in plugin.arguments:
        word = terms.argument(plugin.name, name)
        if word is not None and word.read(target):
            continue
        known = sorted(terms.argument_names(plugin.name, target))
        if word is not None:
            hint = f"other releases than Volcano {target} read it; remove it"
        elif known:
            hint = suggest(name, known)
        else:
            hint = "this plugin has no arguments; remove it"
        yield Hit(
            RULE,
            f'plugin {plugin.name} reads no argument "{name}"; {hint}',
            plugin.argument_at(name),
        )


RULE = ObjectRule(
    "volcano-key-ignored",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
    aliases=("volcano-word-unread",),
)
