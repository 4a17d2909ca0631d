"""An autoscaler changes the number of pods of a StatefulSet in a queue, which Kueue refuses."""

from policygen.kubernetes.kueue_jobs import queued
from policygen.lint.core.autoscalers import autoscalers
from policygen.lint.kueue.configuration import settings
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue admits its pods together, and only accepts a change from or to 0 replicas.

    Source: pkg/controller/jobs/statefulset/statefulset_webhook.go of Kueue 0.19.2, ValidateUpdate.
    """
    scaled = facts.cluster.derive(autoscalers)
    rules = settings(facts)
    for job in facts.cluster.derive(queued):
        workload = job.workload
        autoscaler = scaled.get((workload.namespace, workload.kind, workload.name))
        off = rules.entry is not None and "statefulset" not in rules.frameworks
        if workload.kind != "StatefulSet" or autoscaler is None or autoscaler.most < 2 or off:
            continue
        yield Hit(
            RULE,
            f"{autoscaler.name} changes the replicas of {workload}, but Kueue refuses this change of a "
            "StatefulSet in a queue; use a Deployment, or remove the autoscaler",
            autoscaler.at,
            (job.at,),
        )


RULE = ObjectRule(
    "autoscaler-resize-refused",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Use a Deployment, whose pods Kueue admits one by one, or remove the autoscaler.",
    judges=("HorizontalPodAutoscaler", "ScaledObject"),
    check=check,
    reads=("StatefulSet", "ClusterQueue", "LocalQueue", "Configuration"),
)
