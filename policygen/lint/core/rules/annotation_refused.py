"""An annotation has a key that Kubernetes does not take, or they are too long together."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.label_grammar import key_fault
from policygen.core.rule import Severity
from policygen.lint.core import pod_templates
from policygen.lint.core.server_refusals import hits
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Source: what running servers serve, `schemas/cluster`."""
    yield from hits(RULE, facts, "bad-annotation")
    for template in pod_templates.templates(facts.cluster):
        found = template.under("metadata").under("annotations")
        for key in found.data:
            if fault := key_fault(key.lower()):
                message = fault.replace("label key", "annotation key")
                yield Hit(RULE, f"{template.owner}: {message}", (found.at / key).on_key())


RULE = ObjectRule(
    "annotation-refused", Severity.ERROR, Family.INVALID, __doc__, judges=(), check=check
)
