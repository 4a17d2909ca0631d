"""A ResourceQuota counts only pods of a PriorityClass that does not exist, so the quota counts nothing."""

from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The server compares the names of a scope only with those of pods.

    Checks only if the input has PriorityClasses.
    Source: pkg/quota/v1/evaluator/core/pods.go, podMatchesSelector.
    """
    classes = facts.cluster.priority_classes
    if not classes.any:
        return
    for quota in facts.cluster.resource_quotas:
        selector = quota.fields.scope_selector
        for i, expression in enumerate(selector.match_expressions if selector else ()):
            if expression.scope_name != "PriorityClass" or expression.operator != "In":
                continue
            for j, name in enumerate(expression.values):
                if not name.startswith("system-") and not classes.knows(name):
                    yield Hit(
                        RULE,
                        f'{quota} counts pods of PriorityClass "{name}", which does not exist; '
                        f"{suggest(name, classes.names())}",
                        quota.at.to("spec", "scopeSelector", "matchExpressions", i, "values", j),
                    )


RULE = ObjectRule(
    "quota-for-unknown-priority",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the name of a PriorityClass that exists.",
    judges=("ResourceQuota",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("PriorityClass",),
)
