"""An AdmissionCheck names a kueue.x-k8s.io controller that Kueue does not have."""

from policygen.core.suggest import suggest
from policygen.lint.kueue.admission_checks import CONFIGS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """No controller sets such a check to Active, unless a third-party controller uses the name.

    Source: apis/kueue/v1beta2/constants.go; pkg/controller/core/admissioncheck_controller.go.
    """
    for entry in facts.cluster.admission_checks:
        name = entry.fields.controller_name
        if name.startswith("kueue.x-k8s.io/") and name not in CONFIGS:
            yield Hit(
                RULE,
                f'{entry} has controllerName "{name}", which is not a controller of Kueue; '
                f"{suggest(name, CONFIGS)}",
                entry.at.to("spec", "controllerName"),
            )


RULE = ObjectRule(
    "admission-check-controller-unknown",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the name of one of Kueue's controllers, or a name in your own domain.",
    judges=("AdmissionCheck",),
    check=check,
)
