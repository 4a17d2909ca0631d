"""Volcano's scheduler configuration has an unknown key or argument, which is ignored."""

from collections.abc import Iterable

from policygen.core.finding import At, Edit, Verb
from policygen.core.suggest import Names
from policygen.core.versions import Version
from policygen.kubernetes.untyped import numbered
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import terms
from policygen.lint.volcano.configuration import ListedPlugin, all_settings


def check(facts: Facts) -> Hits:
    """Volcano decodes the file without a check of unknown keys, and looks up arguments by name.

    Source: pkg/scheduler/conf/scheduler_conf.go, pkg/scheduler/util.go, and each plugin's file.
    """
    target = facts.target["volcano"]
    for configuration in all_settings(facts):
        data = configuration.entry.object.data
        yield from _unknown(data, terms.TOP, configuration.entry.at)
        for i, tier in numbered(data, "tiers"):
            yield from _unknown(tier, terms.TIER, configuration.entry.at.to("tiers", i))
        for plugin in configuration.plugins:
            keys = (*terms.PLUGIN, *terms.switches(target))
            arguments = [
                it for it in plugin.fields if it not in keys and _is_argument(plugin, it, target)
            ]
            others = (it for it in plugin.fields if it not in arguments)
            yield from _unknown(others, keys, plugin.at)
            for name in arguments:
                yield Hit(
                    RULE,
                    f'key "{name}" is an argument of plugin {plugin.name}, but is not in arguments, so it has no effect; '
                    "move it into arguments",
                    (plugin.at / name).on_key(),
                )
            if plugin.name in terms.PLUGINS:
                yield from _arguments(plugin, target)


def _is_argument(plugin: ListedPlugin, name: str, target: Version) -> bool:
    found = terms.argument(plugin.name, name)
    return found is not None and found.read(target)


def _unknown(keys: Iterable[str], known: Iterable[str], at: At) -> Hits:
    names = Names(known)
    for key in keys:
        if key not in names:
            place = (at / key).on_key()
            yield Hit(
                RULE,
                f'key "{key}" is unknown at this place and has no effect; {names.advice(str(key))}',
                place,
                meant=_renamed(place, names.meant(str(key))),
            )


def _arguments(plugin: ListedPlugin, target: Version) -> Hits:
    for name in plugin.arguments:
        parameter = terms.argument(plugin.name, name)
        if parameter is not None and parameter.read(target):
            continue
        known = Names(terms.argument_names(plugin.name, target))
        if parameter is not None:
            advice = (
                f"only other releases than Volcano {target} read this argument; remove the argument"
            )
        elif known:
            advice = known.advice(name)
        else:
            advice = "this plugin has no arguments; remove the argument"
        yield Hit(
            RULE,
            f'plugin {plugin.name} does not have argument "{name}"; {advice}',
            plugin.argument_at(name),
            meant=_renamed(plugin.argument_at(name), known.meant(name)),
        )


def _renamed(key: At, meant: str) -> tuple[Edit, ...]:
    return (Edit(Verb.RENAME, key, meant),) if meant else ()


RULE = ObjectRule(
    "volcano-key-ignored",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write a key or argument that your release of Volcano has.",
    judges=("volcano-scheduler.conf",),
    check=check,
    aliases=("volcano-word-unread",),
)
