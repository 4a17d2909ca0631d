"""Kueue's Configuration has a value that its manager refuses."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.versions import KUEUE_V1BETA2
from policygen.kubernetes.cluster import KUEUE_CONFIG
from policygen.lint.kueue.configuration_errors import faults
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """It exits at start, and with it the webhooks that jobs pass through.

    Source: pkg/config/validation.go; pkg/config/config.go for the API version.
    """
    served = ["v1beta1"]
    if facts.target["kueue"].release >= KUEUE_V1BETA2:
        served.append("v1beta2")
    for it in facts.cluster.of(KUEUE_CONFIG, "Configuration"):
        if it.version not in served:
            yield Hit(
                RULE,
                f"Kueue {facts.target['kueue']} does not read a Configuration of {it.version}; "
                f"write {KUEUE_CONFIG}/{served[-1]}",
                it.at / "apiVersion",
            )
            continue
        for path, message in faults(it.data):
            shown = ".".join(str(step) for step in path)
            yield Hit(RULE, f"Kueue does not start with {shown}: {message}", it.at.to(*path))


RULE = ObjectRule(
    "kueue-configuration-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("Configuration",),
    check=check,
)
