"""The configuration of an admission check has a name that no AdmissionCheck can refer to."""

import re

from policygen.kubernetes.cluster import KUEUE
from policygen.lint.kueue.admission_checks import CONFIGS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def check(facts: Facts) -> Hits:
    """`parameters.name` must be a DNS label, but the name of the object itself may have dots.

    Source: apis/kueue/v1beta2/admissioncheck_types.go, AdmissionCheckParametersReference.
    """
    for kind in CONFIGS.values():
        for config in facts.cluster.of(KUEUE, kind):
            if config.name and not _LABEL.fullmatch(config.name):
                yield Hit(
                    RULE,
                    f"{config} has a name that no AdmissionCheck can refer to; write at most 63 "
                    "lower-case letters, digits and dashes",
                    config.at.to("metadata", "name"),
                )


RULE = ObjectRule(
    "admission-check-config-name-invalid",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Give the configuration a name of at most 63 lower-case letters, digits and dashes.",
    judges=tuple(CONFIGS.values()),
    check=check,
    aliases=("check-config-name-unusable",),
)
