"""Jobs need all their pods at once, and Kueue does not wait for them."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.untyped import mapping
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.kueue.job_metadata import judged
from policygen.lint.kueue.queue_names import Queued, queued
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Two half-started gangs can hold each other's nodes for ever.

    From 0.19 on it waits unless it is switched off. Source: issues 349, 2796.
    """
    gangs = [each for each in facts.cluster.derive(queued) if _gang(each)]
    for entry, rules in all_settings(facts):
        if gangs and not rules.waits_for_pods:
            yield Hit(
                RULE,
                f"Kueue does not wait for pods to be ready, so gangs such as {gangs[0].workload} "
                "can start by halves and block each other; write waitForPodsReady",
                entry.at / "waitForPodsReady",
                related=tuple(each.workload.at for each in gangs[:10]),
            )


def _gang(each: Queued) -> bool:
    """Whether a workload's pods work together."""
    if each.workload.kind in ("Job", "CronJob"):
        spec = mapping(judged(each.workload).data, "spec")
        return spec.get("completionMode") == "Indexed" and any(
            (template.replicas or 0) > 1 for template in each.workload.templates
        )
    return each.workload.kind not in ("Pod", "Deployment", "StatefulSet")


RULE = ObjectRule(
    "gangs-not-awaited",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Configuration",),
    check=check,
    needs=frozenset({Need.WORKLOADS}),
    reads=("ClusterQueue", "LocalQueue"),
)
