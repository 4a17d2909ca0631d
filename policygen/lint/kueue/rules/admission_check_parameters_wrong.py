"""An AdmissionCheck of Kueue's own does not point to the kind that configures it."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import KUEUE
from policygen.lint.kueue.admission_checks import CONFIGS
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Group and kind are compared exactly; otherwise the check stays inactive, and its queues too.

    Source: pkg/util/admissioncheck/admissioncheck.go, refValidForGK; issue 3195.
    """
    for entry in facts.cluster.admission_checks:
        kind = CONFIGS.get(entry.it.controller_name)
        if kind is None:
            continue
        at = entry.at.to("spec", "parameters")
        parameters = entry.it.parameters
        wanted = f"apiGroup {KUEUE}, kind {kind}"
        if parameters is None:
            yield Hit(RULE, f"{entry} has no parameters; write {wanted} and its name", at)
        elif parameters.api_group != KUEUE:
            yield Hit(
                RULE,
                f'{entry} has parameters of apiGroup "{parameters.api_group}"; write {KUEUE}',
                at / "apiGroup",
            )
        elif parameters.kind != kind:
            yield Hit(
                RULE,
                f'{entry} has parameters of kind "{parameters.kind}"; write {kind}',
                at / "kind",
            )


RULE = ObjectRule(
    "admission-check-parameters-wrong",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("AdmissionCheck",),
    check=check,
)
