"""A quota is for the pods of a PriorityClass that is not there, so it counts none."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The names of a scope are compared with the pods' and with nothing else.

    Only where the input has classes at all.
    Source: pkg/quota/v1/evaluator/core/pods.go, podMatchesSelector.
    """
    classes = facts.cluster.priority_classes
    if not classes.any:
        return
    for quota in facts.cluster.resource_quotas:
        selector = quota.it.scope_selector
        for i, each in enumerate(selector.match_expressions if selector else ()):
            if each.scope_name != "PriorityClass" or each.operator != "In":
                continue
            for j, name in enumerate(each.values):
                if not name.startswith("system-") and not classes.knows(name):
                    yield Hit(
                        RULE,
                        f'{quota} counts pods of PriorityClass "{name}", which is not there; '
                        f"{suggest(name, classes.names())}",
                        quota.at.to("spec", "scopeSelector", "matchExpressions", i, "values", j),
                    )


RULE = ObjectRule(
    "quota-for-unknown-priority",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("ResourceQuota",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("PriorityClass",),
)
