"""Volcano's scheduler refuses its configuration and runs with the built-in one."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.quoting import shown
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.core.versions import Version
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import terms
from policygen.lint.volcano.configuration import Settings, all_settings

_REFUSES = (1, 14)
"""The first release that refuses unknown actions; 1.12 and 1.13 leave them out."""
_DROPS = "the scheduler drops the whole file and runs with its built-in one"


def check(facts: Facts) -> Iterator[Hit]:
    """Unknown actions, none at all, switches that are no booleans, drf's hierarchy beside proportion.

    Source: pkg/scheduler/util.go, UnmarshalSchedulerConf; volcano-sh/volcano#4660.
    """
    target = facts.target["volcano"]
    refused = target.release >= _REFUSES
    then = _DROPS if refused else "the scheduler leaves it out"
    known = terms.actions(target)
    for each in all_settings(facts):
        yield from _conflicts(each)
        yield from _switches(each, target)
        keys = each.entry.object.data.keys()
        if "actions" not in keys:
            if keys <= {*terms.TOP}:  # else a misspelt key is told
                yield Hit(RULE, f"there are no actions; {then}; write some", each.entry.at)
            continue
        written = each.entry.it.actions.split(",")
        for name in (name.strip() for name in written):
            if not name:
                if refused or not each.actions:
                    yield Hit(
                        RULE,
                        f'actions "{each.entry.it.actions}" has an empty name; {then}; write the '
                        "names with single commas between them",
                        each.actions_at,
                    )
                    break
            elif name not in known:
                yield Hit(
                    RULE,
                    f'action "{name}" is none of Volcano {target}; {then}; {suggest(name, known)}',
                    each.actions_at,
                )


def _conflicts(each: Settings) -> Iterator[Hit]:
    proportional = {plugin.tier: plugin for plugin in each.plugins if plugin.name == "proportion"}
    for plugin in each.plugins:
        other = proportional.get(plugin.tier)
        if plugin.name == "drf" and plugin.on("enableHierarchy") and other is not None:
            yield Hit(
                RULE,
                f"drf with enableHierarchy stands in one tier with proportion; {_DROPS}; remove one "
                "of them",
                plugin.at,
                (other.at,),
            )


def _switches(each: Settings, target: Version) -> Iterator[Hit]:
    for plugin in each.plugins:
        for switch in terms.switches(target):
            value = plugin.fields.get(switch)
            if value is None or isinstance(value, bool):
                continue
            word = str(value).lower()
            right = f"{word} without quotes" if word in ("true", "false") else "true or false"
            yield Hit(
                RULE,
                f"{switch} is {shown(value)}, which is no boolean; {_DROPS}; write {right}",
                plugin.at / switch,
            )


RULE = ObjectRule(
    "volcano-configuration-not-loaded",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("volcano-scheduler.conf",),
    check=check,
)
