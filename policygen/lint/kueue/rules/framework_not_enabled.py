"""A workload names a queue, but Kueue's Configuration does not enable the workload's kind."""

from policygen.core.names import LEADER_WORKER_SET
from policygen.core.quoting import some
from policygen.kubernetes.kueue_jobs import FRAMEWORKS, Queued, queued
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.configuration import settings
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_ON_PODS = {"deployment", "statefulset", LEADER_WORKER_SET}
"""Integrations that also switch on the integration of pods."""


def check(facts: Facts) -> Hits:
    """The workload starts immediately, outside every quota. Workloads of one kind are reported together.

    Source: pkg/controller/jobframework/setup.go; apis/config/v1beta2/configuration_types.go.
    """
    rules = settings(facts)
    enabled = set(rules.frameworks)
    if enabled & _ON_PODS:
        enabled.add("pod")
    found: dict[str, list[Queued]] = {}
    external = {name.lower() for name in rules.external_frameworks}
    for job in facts.cluster.derive(queued):
        written = job.workload.object
        framework = FRAMEWORKS[written.group, written.kind]
        name = f"{written.kind}.{written.version}.{written.group}".lower()
        if framework in enabled or name in external:
            continue
        found.setdefault(framework, []).append(job)
    for framework, jobs in found.items():
        several = len(jobs) > 1
        who = some([str(it.workload) for it in jobs], "other workload")
        names = "name queues" if several else "names a queue"
        runs = "the workloads run" if several else "the workload runs"
        first, *others = (it.at for it in jobs)
        if several and rules.entry is not None:
            first, others = rules.entry.at / "integrations", [first, *others]
        yield Hit(
            RULE,
            f"{who} {names}, but Kueue's Configuration does not enable the kind, so "
            f"{runs} outside every quota; add {framework} to integrations.frameworks",
            first,
            tuple(others),
        )


RULE = ObjectRule(
    "framework-not-enabled",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Add the integration for the workload's kind to integrations.frameworks.",
    judges=(*KINDS, "Configuration"),
    check=check,
    needs=frozenset({Need.KUEUE_CONFIGURATION}),
    reads=("ClusterQueue", "LocalQueue"),
)
