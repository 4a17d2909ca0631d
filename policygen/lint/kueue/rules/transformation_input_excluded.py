"""A resource transformation has no effect: excludeResourcePrefixes removes its input."""

from policygen.kubernetes.untyped import mappings
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue removes excluded prefixes first, so the outputs are never counted.

    Source: pkg/workload/workload.go, totalRequestsFromPodSets.
    """
    for entry, rules in all_settings(facts):
        resources = entry.fields.resources or {}
        for i, transformation in enumerate(mappings(resources.get("transformations"))):
            name = transformation.get("input")
            if isinstance(name, str) and rules.excludes(name):
                yield Hit(
                    RULE,
                    f'the transformation of "{name}" has no effect, because excludeResourcePrefixes '
                    "removes this resource first; remove the prefix from excludeResourcePrefixes; "
                    "to count only the outputs, also write strategy: Replace",
                    entry.at.to("resources", "transformations", i, "input"),
                )


RULE = ObjectRule(
    "transformation-input-excluded",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Remove the prefix from excludeResourcePrefixes.",
    judges=("Configuration",),
    check=check,
)
