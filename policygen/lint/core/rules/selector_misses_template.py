"""The selector of a Deployment or similar workload does not match its own pods."""

from collections.abc import Mapping

from policygen.core.finding import At
from policygen.lint.core import selectors
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb


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
            continue
        labels = template.at.to("metadata", "labels")
        if not selector.selects(template.labels):
            yield Hit(
                RULE,
                f"{workload} has a selector that does not match its own template, which is refused; "
                "write the same labels in the selector and the template",
                at,
                (labels,),
                meant=_meant(labels, template.labels, selector.match_labels),
            )


def _meant(at: At, labels: Mapping[str, str], selected: Mapping[str, str]) -> tuple[Edit, ...]:
    """The labels that the selector requires: others can select the pods by them, too."""
    return tuple(
        Edit(Verb.REWRITE if key in labels else Verb.ADD, at / key, value)
        for key, value in selected.items()
        if labels.get(key) != value
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
