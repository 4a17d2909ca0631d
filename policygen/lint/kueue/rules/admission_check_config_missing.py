"""An AdmissionCheck names a configuration object that does not exist."""

from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import KUEUE
from policygen.lint.kueue.admission_checks import CONFIGS, MULTI_KUEUE
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The check and every queue that uses it stay inactive (BadConfig, BadParametersRef).

    Source: pkg/controller/admissionchecks/multikueue/admissioncheck.go and provisioning/.
    """
    multi_kueue = facts.cluster.multi_kueue_configs
    provisioning = facts.cluster.provisioning_request_configs
    for entry in facts.cluster.admission_checks:
        parameters = entry.fields.parameters
        kind = CONFIGS.get(entry.fields.controller_name)
        if parameters is None or (parameters.api_group, parameters.kind) != (KUEUE, kind):
            continue  # reported by admission-check-parameters-wrong
        if entry.fields.controller_name == MULTI_KUEUE:
            exists, names = multi_kueue.knows(parameters.name), multi_kueue.names
        else:
            exists, names = provisioning.knows(parameters.name), provisioning.names
        if not exists:
            yield Hit(
                RULE,
                f'{entry} names {kind} "{parameters.name}", which does not exist; '
                f"{suggest(parameters.name, names(), str(kind))}",
                entry.at.to("spec", "parameters", "name"),
            )


RULE = ObjectRule(
    "admission-check-config-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name an existing configuration in spec.parameters, or create the missing one.",
    judges=("AdmissionCheck",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("MultiKueueConfig", "ProvisioningRequestConfig"),
)
