"""integrations.frameworks lists an integration twice, or lists an unknown integration."""

from policygen.core.suggest import Names, suggest
from policygen.kubernetes.kueue_jobs import integrations
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import (
    Edit,
    Facts,
    Family,
    Fix,
    Hit,
    Hits,
    ObjectRule,
    Severity,
    Verb,
    written,
)


def check(facts: Facts) -> Hits:
    """The manager exits at start.

    Source: pkg/config/validation.go, validateIntegrations; pkg/controller/jobs.
    """
    known = Names(integrations(facts.target["kueue"].release))
    for entry, rules in all_settings(facts):
        if not entry.fields.integrations or not entry.fields.integrations.get("frameworks"):
            continue
        for i, name in enumerate(rules.frameworks):
            at = entry.at.to("integrations", "frameworks", i)
            if name not in known:
                yield Hit(
                    RULE,
                    f'framework "{name}" does not exist in this Kueue release, so Kueue does not start; '
                    f"{suggest(name, known)}",
                    at,
                    meant=written(at, known.meant(name)),
                )
            elif name in rules.frameworks[:i]:
                yield Hit(
                    RULE,
                    f'framework "{name}" is listed twice, so Kueue does not start; remove one of '
                    "the two entries",
                    at,
                    edits=(Edit(Verb.REMOVE, at),),
                )


RULE = ObjectRule(
    "framework-unknown",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="List each integration once, with a name that your Kueue release supports.",
    judges=("Configuration",),
    check=check,
    fix=Fix.SAFE,
)
