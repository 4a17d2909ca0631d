"""A pod has an empty list of containers."""

from policygen.lint.core import pod_templates
from policygen.lint.core.server_refusals import unsure_pods
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The schema refuses a missing list, which `missing-field` reports.

    Source: pkg/apis/core/validation/validation.go, validateContainers.
    """
    for spec in unsure_pods(facts.cluster):
        if spec.data.get("containers") == []:
            yield Hit(
                RULE,
                f"{spec.owner} has no containers, which is refused; write a container",
                spec.at / "containers",
            )


RULE = ObjectRule(
    "pod-without-containers",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a container.",
    judges=pod_templates.KINDS,
    check=check,
)
