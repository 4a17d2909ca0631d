"""Kueue's Configuration has an invalid value, so Kueue's manager does not start."""

from policygen.core.finding import dotted
from policygen.core.versions import KUEUE_V1BETA2
from policygen.kubernetes.cluster import KUEUE_CONFIG
from policygen.lint.kueue.configuration_errors import faults
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The manager exits at start, so its webhooks do not answer and jobs cannot be created.

    Source: pkg/config/validation.go; pkg/config/config.go for the API version.
    """
    served = ["v1beta1"]
    if facts.target["kueue"].release >= KUEUE_V1BETA2:
        served.append("v1beta2")
    for config in facts.cluster.of(KUEUE_CONFIG, "Configuration"):
        if config.version not in served:
            yield Hit(
                RULE,
                f"Configuration has version {config.version}, which Kueue {facts.target['kueue']} "
                f"does not support; write apiVersion: {KUEUE_CONFIG}/{served[-1]}",
                config.at / "apiVersion",
            )
            continue
        for path, message in faults(config.data):
            yield Hit(
                RULE,
                f"{dotted(path)} prevents Kueue from starting: {message}",
                config.at.to(*path),
            )


RULE = ObjectRule(
    "kueue-configuration-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Correct the value that the message names in Kueue's Configuration.",
    judges=("Configuration",),
    check=check,
)
