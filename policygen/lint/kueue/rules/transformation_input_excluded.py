"""A transformation has an input that is left out before it."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.untyped import mappings
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Prefixes are excluded first, so the outputs are never made.

    Source: pkg/workload/workload.go, totalRequestsFromPodSets.
    """
    for entry, rules in all_settings(facts):
        resources = entry.it.resources or {}
        for i, each in enumerate(mappings(resources.get("transformations"))):
            name = each.get("input")
            if isinstance(name, str) and rules.excludes(name):
                yield Hit(
                    RULE,
                    f'the transformation of "{name}" is never made, since excludeResourcePrefixes '
                    "drops it before; take the prefix out, or use strategy Replace alone",
                    entry.at.to("resources", "transformations", i, "input"),
                )


RULE = ObjectRule(
    "transformation-input-excluded",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Configuration",),
    check=check,
)
