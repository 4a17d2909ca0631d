"""Kueue's Configuration has an invalid value, so Kueue's manager does not start."""

from collections.abc import Iterable

from policygen.core.finding import At, Fault, dotted
from policygen.core.versions import KUEUE_V1BETA2
from policygen.kubernetes import kueue_gates
from policygen.kubernetes.cluster import KUEUE_CONFIG
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.kueue.configuration_errors import faults
from policygen.lint.kueue.device_sources import SOURCE_GATES, source_faults
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
        yield from _hits(faults(config.data), config.at)
    for entry, rules in all_settings(facts):
        known = kueue_gates.names(facts.target["kueue"])
        gates = [it for it in SOURCE_GATES if rules.gate(it) or it not in known]
        yield from _hits(source_faults(entry.object.data, gates), entry.at)


def _hits(found: Iterable[Fault], at: At) -> Hits:
    for path, message in found:
        fault = f"{dotted(path)} prevents Kueue from starting: {message}"
        yield Hit(RULE, fault, at.to(*path))


RULE = ObjectRule(
    "kueue-configuration-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Correct the value that the message names in Kueue's Configuration.",
    judges=("Configuration",),
    check=check,
    reads=("Deployment",),
)
