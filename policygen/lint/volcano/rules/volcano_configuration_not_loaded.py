"""Volcano's scheduler drops an invalid configuration and uses the built-in one."""

from policygen.core.quoting import shown
from policygen.core.suggest import Names, suggest
from policygen.core.versions import Version
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written
from policygen.lint.volcano import terms
from policygen.lint.volcano.configuration import VolcanoFile, all_settings

_REFUSES = (1, 14)
"""The first release that refuses unknown actions; 1.12 and 1.13 skip them."""
_DROPS = "the scheduler drops the whole file and uses its built-in configuration"


def check(facts: Facts) -> Hits:
    """Unknown or missing actions, switches that are not booleans, drf beside proportion.

    Source: pkg/scheduler/util.go, UnmarshalSchedulerConf; volcano-sh/volcano#4660.
    """
    target = facts.target["volcano"]
    refused = target.release >= _REFUSES
    known = terms.actions(target)
    for configuration in all_settings(facts):
        yield from _conflicts(configuration)
        yield from _switches(configuration, target)
        keys = configuration.entry.object.data.keys()
        if "actions" not in keys:
            # volcano-key-ignored reports a misspelled key.
            if not Names(keys - {*terms.TOP}).meant("actions"):
                then = _DROPS if refused else "the scheduler runs no action"
                yield Hit(
                    RULE, f"actions are not set, so {then}; write actions", configuration.entry.at
                )
            continue
        then = _DROPS if refused else "the scheduler skips that action"
        names = [it.strip() for it in configuration.entry.fields.actions.split(",")]
        for name in names:
            if not name:
                if refused or not configuration.actions:
                    yield Hit(
                        RULE,
                        f'actions "{configuration.entry.fields.actions}" has an empty name, so '
                        f"{then}; write action names with single commas between them",
                        configuration.actions_at,
                    )
                    break
            elif name not in known:
                near = Names(known).meant(name)
                right = ", ".join(near if it == name else it for it in names)
                yield Hit(
                    RULE,
                    f'action "{name}" does not exist in Volcano {target}, so {then}; '
                    f"{suggest(name, known)}",
                    configuration.actions_at,
                    meant=written(configuration.actions_at, right) if near else (),
                )


def _conflicts(configuration: VolcanoFile) -> Hits:
    proportional = {
        plugin.tier: plugin for plugin in configuration.plugins if plugin.name == "proportion"
    }
    for plugin in configuration.plugins:
        other = proportional.get(plugin.tier)
        if plugin.name == "drf" and plugin.on("enableHierarchy") and other is not None:
            yield Hit(
                RULE,
                "plugin drf with enableHierarchy is in the same tier as plugin proportion, so "
                f"{_DROPS}; remove one of the two plugins",
                plugin.at,
                (other.at,),
            )


def _switches(configuration: VolcanoFile, target: Version) -> Hits:
    for plugin in configuration.plugins:
        for switch in terms.switches(target):
            value = plugin.fields.get(switch)
            if value is None or isinstance(value, bool):
                continue
            word = str(value).lower()
            right = f"{word} without quotes" if word in ("true", "false") else "true or false"
            yield Hit(
                RULE,
                f"{switch} is {shown(value)}, not a boolean, so {_DROPS}; write {right}",
                plugin.at / switch,
            )


RULE = ObjectRule(
    "volcano-configuration-not-loaded",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write known actions with single commas between them, and true or false without quotes.",
    judges=("volcano-scheduler.conf",),
    check=check,
)
