"""The configuration of an admission check has a name that no AdmissionCheck can hold."""

import re
from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import KUEUE
from policygen.lint.kueue.admission_checks import CONFIGS
from policygen.lint.rule import Facts, Family, ObjectRule

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def check(facts: Facts) -> Iterator[Hit]:
    """`parameters.name` is a DNS label, while the object's own name may have dots.

    Source: apis/kueue/v1beta2/admissioncheck_types.go, AdmissionCheckParametersReference.
    """
    for kind in CONFIGS.values():
        for it in facts.cluster.of(KUEUE, kind):
            if it.name and not _LABEL.fullmatch(it.name):
                yield Hit(
                    RULE,
                    f"no AdmissionCheck can point to {it}; give it a name of at most 63 "
                    "lower-case letters, digits and dashes",
                    it.at.to("metadata", "name"),
                )


RULE = ObjectRule(
    "check-config-name-unusable",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=tuple(CONFIGS.values()),
    check=check,
)
