"""A label has a key or a value that Kubernetes does not take."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.core import pod_templates
from policygen.lint.core.server_refusals import told
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Of pod templates and node selectors too.

    Source: what running servers serve, `schemas/cluster`; pkg/apis/core/validation/validation.go,
    ValidatePodTemplateSpec, ValidatePodSpec.
    """
    yield from told(facts, "bad-label")
    written = [
        it.under("metadata").under("labels") for it in pod_templates.templates(facts.cluster)
    ]
    written += [it.under("nodeSelector") for it in pod_templates.pod_specs(facts.cluster)]
    for labels in written:
        yield from (Claim(*fault) for fault in pod_templates.label_faults(labels))


RULE = Rule("label-refused", Severity.ERROR, Family.INVALID, judges=(), check=check)
