"""An annotation has a key that Kubernetes does not take, or they are too long together."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.core.label_grammar import key_fault
from policygen.lint.core import pod_templates
from policygen.lint.core.server_refusals import told
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Source: what running servers serve, `schemas/cluster`."""
    yield from told(facts, "bad-annotation")
    for template in pod_templates.templates(facts.cluster):
        found = template.under("metadata").under("annotations")
        for key in found.data:
            if fault := key_fault(key.lower()):
                message = fault.replace("label key", "annotation key")
                yield Claim(f"{template.owner}: {message}", (found.at / key).on_key())


RULE = Rule("annotation-refused", Severity.ERROR, Family.INVALID, judges=(), check=check)
