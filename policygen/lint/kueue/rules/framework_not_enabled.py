"""A workload names a queue, and Kueue is not told to manage its kind."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.names import LEADER_WORKER_SET
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.queue_names import FRAMEWORKS, queued
from policygen.lint.rule import Facts, Family, Need, ObjectRule

_ON_PODS = {"deployment", "statefulset", LEADER_WORKER_SET}
"""Integrations that switch that of pods on."""


def check(facts: Facts) -> Iterator[Hit]:
    """It runs at once, outside every quota.

    Source: pkg/controller/jobframework/setup.go; apis/config/v1beta2/configuration_types.go.
    """
    rules = settings(facts)
    enabled = set(rules.frameworks)
    if enabled & _ON_PODS:
        enabled.add("pod")
    external = {name.lower() for name in rules.external_frameworks}
    for each in facts.cluster.derive(queued):
        it = each.workload.object
        framework = FRAMEWORKS[it.group, it.kind]
        if framework in enabled or f"{it.kind}.{it.version}.{it.group}".lower() in external:
            continue
        yield Hit(
            RULE,
            f"{each.workload} names a queue, and Kueue's Configuration does not enable its kind, so "
            f"it runs outside every quota; add {framework} to integrations.frameworks",
            each.at,
        )


RULE = ObjectRule(
    "framework-not-enabled",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    needs=frozenset({Need.KUEUE_CONFIGURATION}),
    reads=("Configuration", "ClusterQueue", "LocalQueue"),
)
