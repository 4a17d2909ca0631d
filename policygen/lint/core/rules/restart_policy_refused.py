"""Pods that are to run on are not restarted."""

from collections.abc import Iterator

from policygen.core.finding import Edit, Hit, Verb
from policygen.core.rule import Severity
from policygen.lint.core import pod_templates, selectors
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Of Jobs, where it is the other way round, `job-restarts-always` tells.

    Source: pkg/apis/apps/validation/validation.go.
    """
    for spec in pod_templates.pod_specs(facts.cluster):
        it, policy = spec.owner, spec.data.get("restartPolicy") or "Always"
        if it.object.group == "apps" and isinstance(policy, str) and policy != "Always":
            yield Hit(
                RULE,
                f"{it} makes pods with restartPolicy {policy}, which is refused; remove it",
                spec.at / "restartPolicy",
                edits=(Edit(Verb.REMOVE, spec.at / "restartPolicy"),),
            )


RULE = ObjectRule(
    "restart-policy-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=selectors.OWNERS,
    check=check,
    fix=Fix.SAFE,
)
