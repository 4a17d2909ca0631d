"""Jobs need all their pods at once, but Kueue does not wait until pods are ready."""

from policygen.kubernetes.kueue_jobs import Queued, queued
from policygen.lint.core.webhook_objects import webhook_object
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Two partially started gangs can hold each other's nodes forever.

    From 0.19 on, Kueue waits unless this is switched off. Source: issues 349, 2796.
    """
    gangs = [job for job in facts.cluster.derive(queued) if _is_gang(job)]
    for entry, rules in all_settings(facts):
        if gangs and not rules.waits_for_pods:
            yield Hit(
                RULE,
                f"Kueue does not wait for pods to be ready, so gangs such as {gangs[0].workload} "
                "can start partially and block each other; add waitForPodsReady to Kueue's "
                "Configuration",
                entry.at / "waitForPodsReady",
                related=tuple(job.workload.at for job in gangs[:10]),
            )


def _is_gang(job: Queued) -> bool:
    """True if the pods of a workload work together."""
    if job.workload.kind in ("Job", "CronJob"):
        return webhook_object(job.workload).spec.get("completionMode") == "Indexed" and any(
            (template.replicas or 0) > 1 for template in job.workload.templates
        )
    return job.workload.kind not in ("Pod", "Deployment", "StatefulSet")


RULE = ObjectRule(
    "wait-for-pods-ready-off",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add waitForPodsReady to Kueue's Configuration.",
    judges=("Configuration",),
    check=check,
    needs=frozenset({Need.WORKLOADS}),
    reads=("ClusterQueue", "LocalQueue"),
    aliases=("gangs-not-awaited",),
)
