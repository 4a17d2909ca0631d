"""A workload names a queue, but Kueue's Configuration does not enable the workload's kind."""

from policygen.core.names import LEADER_WORKER_SET
from policygen.kubernetes.kueue_jobs import FRAMEWORKS, queued
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.configuration import settings
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_ON_PODS = {"deployment", "statefulset", LEADER_WORKER_SET}
"""Integrations that also switch on the integration of pods."""


def check(facts: Facts) -> Hits:
    """The workload starts immediately, outside every quota.

    Source: pkg/controller/jobframework/setup.go; apis/config/v1beta2/configuration_types.go.
    """
    rules = settings(facts)
    enabled = set(rules.frameworks)
    if enabled & _ON_PODS:
        enabled.add("pod")
    external = {name.lower() for name in rules.external_frameworks}
    for job in facts.cluster.derive(queued):
        written = job.workload.object
        framework = FRAMEWORKS[written.group, written.kind]
        name = f"{written.kind}.{written.version}.{written.group}".lower()
        if framework in enabled or name in external:
            continue
        yield Hit(
            RULE,
            f"{job.workload} names a queue, but Kueue's Configuration does not enable the kind, so "
            f"the workload runs outside every quota; add {framework} to integrations.frameworks",
            job.at,
        )


RULE = ObjectRule(
    "framework-not-enabled",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Add the integration for the workload's kind to integrations.frameworks.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.KUEUE_CONFIGURATION}),
    reads=("ClusterQueue", "LocalQueue"),
)
