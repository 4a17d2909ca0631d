"""An AdmissionCheck points to a configuration that is not there."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import KUEUE
from policygen.lint.kueue.admission_checks import CONFIGS, MULTI_KUEUE
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The check stays inactive (BadConfig, BadParametersRef), and with it every queue that has it.

    Source: pkg/controller/admissionchecks/multikueue/admissioncheck.go and provisioning/.
    """
    multi_kueue = facts.cluster.multi_kueue_configs
    provisioning = facts.cluster.provisioning_request_configs
    for entry in facts.cluster.admission_checks:
        parameters = entry.it.parameters
        kind = CONFIGS.get(entry.it.controller_name)
        if parameters is None or (parameters.api_group, parameters.kind) != (KUEUE, kind):
            continue  # another rule's
        if entry.it.controller_name == MULTI_KUEUE:
            there, names = multi_kueue.knows(parameters.name), multi_kueue.names
        else:
            there, names = provisioning.knows(parameters.name), provisioning.names
        if not there:
            yield Hit(
                RULE,
                f'{entry} points to {kind} "{parameters.name}", which is not there; '
                f"{suggest(parameters.name, names())}",
                entry.at.to("spec", "parameters", "name"),
            )


RULE = ObjectRule(
    "admission-check-config-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("AdmissionCheck",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("MultiKueueConfig", "ProvisioningRequestConfig"),
)
