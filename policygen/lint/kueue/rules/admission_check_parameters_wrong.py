"""An AdmissionCheck of a Kueue controller names the wrong kind of configuration."""

from policygen.kubernetes.cluster import KUEUE
from policygen.lint.kueue.admission_checks import CONFIGS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue compares group and kind exactly; if they differ, check and queues stay inactive.

    Source: pkg/util/admissioncheck/admissioncheck.go, refValidForGK; issue 3195.
    """
    for entry in facts.cluster.admission_checks:
        kind = CONFIGS.get(entry.fields.controller_name)
        if kind is None:
            continue
        at = entry.at.to("spec", "parameters")
        parameters = entry.fields.parameters
        if parameters is None:
            yield Hit(
                RULE,
                f"{entry} has no parameters, so it stays inactive; write apiGroup {KUEUE}, "
                f"kind {kind} and the name of the configuration",
                at,
            )
        elif parameters.api_group != KUEUE:
            yield Hit(
                RULE,
                f'{entry} has parameters.apiGroup "{parameters.api_group}", so it stays inactive; '
                f"write apiGroup {KUEUE}",
                at / "apiGroup",
            )
        elif parameters.kind != kind:
            yield Hit(
                RULE,
                f'{entry} has parameters.kind "{parameters.kind}", so it stays inactive; write '
                f"kind {kind}",
                at / "kind",
            )


RULE = ObjectRule(
    "admission-check-parameters-wrong",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the apiGroup and kind that the controller requires in spec.parameters.",
    judges=("AdmissionCheck",),
    check=check,
)
