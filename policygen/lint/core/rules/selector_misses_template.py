"""The selector of a Deployment or similar workload does not match its own pods."""

from policygen.lint.core import selectors
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """An empty selector is refused too: it would select every pod of the namespace.

    Source: pkg/apis/apps/validation/validation.go.
    """
    for workload, selector in selectors.of_workloads(facts.cluster):
        if not workload.templates:
            continue
        template = workload.templates[0]
        at = workload.at.to("spec", "selector")
        if selector.empty:
            yield Hit(
                RULE,
                f"{workload} has an empty selector, which is refused; write the labels of its "
                "template in matchLabels",
                at,
            )
        elif not selector.selects(template.labels):
            yield Hit(
                RULE,
                f"{workload} has a selector that does not match its own template, which is refused; "
                "write the same labels in the selector and the template",
                at,
                (template.at.to("metadata", "labels"),),
            )


RULE = ObjectRule(
    "selector-misses-template",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the same labels in the selector and the template.",
    judges=selectors.OWNERS,
    check=check,
)
