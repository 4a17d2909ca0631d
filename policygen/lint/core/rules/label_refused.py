"""A label has a key or a value that Kubernetes does not take."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core import pod_templates
from policygen.lint.core.server_refusals import hits
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Of pod templates and node selectors too.

    Source: what running servers serve, `schemas/cluster`; pkg/apis/core/validation/validation.go,
    ValidatePodTemplateSpec, ValidatePodSpec.
    """
    yield from hits(RULE, facts, "bad-label")
    written = [
        it.under("metadata").under("labels") for it in pod_templates.templates(facts.cluster)
    ]
    written += [it.under("nodeSelector") for it in pod_templates.pod_specs(facts.cluster)]
    for labels in written:
        yield from (Hit(RULE, *fault) for fault in pod_templates.label_faults(labels))


RULE = ObjectRule("label-refused", Severity.ERROR, Family.INVALID, __doc__, judges=(), check=check)
