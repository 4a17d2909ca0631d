"""A pod has an empty list of containers."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core import pod_templates
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The schema refuses a missing list, which `missing-field` reports.

    Source: pkg/apis/core/validation/validation.go, validateContainers.
    """
    for spec in pod_templates.pod_specs(facts.cluster):
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
