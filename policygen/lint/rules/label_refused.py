"""A label has a key or a value that Kubernetes does not take."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint import pod_templates
from policygen.lint.pod_templates import Part
from policygen.lint.refused import told
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.spec.labels import key_fault, value_fault


def check(facts: Facts) -> Iterator[Claim]:
    """Of pod templates and node selectors too.

    Source: what running servers serve, `schemas/cluster`; pkg/apis/core/validation/validation.go,
    ValidatePodTemplateSpec, ValidatePodSpec.
    """
    yield from told(facts, "bad-label")
    for template in pod_templates.templates(facts.cluster):
        yield from _faults(template.under("metadata").under("labels"))
    for spec in pod_templates.pod_specs(facts.cluster):
        yield from _faults(spec.under("nodeSelector"))


def _faults(labels: Part) -> Iterator[Claim]:
    for key, value in labels.data.items():
        if fault := key_fault(key):
            yield Claim(f"{labels.owner}: {fault}", (labels.at / key).on_key())
        if isinstance(value, str) and (fault := value_fault(value)):
            yield Claim(f"{labels.owner}: {fault}", labels.at / key)


RULE = Rule("label-refused", Severity.ERROR, Family.INVALID, judges=(), check=check)
