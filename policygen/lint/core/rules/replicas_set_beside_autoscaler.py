"""A manifest sets the replicas of a workload that an autoscaler scales."""

from policygen.core.finding import At
from policygen.kubernetes.untyped import integer
from policygen.lint.core.autoscalers import autoscaler_of
from policygen.lint.kueue.rules import autoscaler_resize_refused
from policygen.lint.other_rules import is_inside, places
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Each apply sets the replicas of the manifest. Checks only manifests, because a cluster always has replicas.

    `autoscaler-resize-refused` reports an autoscaler that has no effect.
    Source: https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/, migrating to an autoscaler.
    """
    if facts.cluster.seen is not None:
        return
    refused = [*places(facts, [autoscaler_resize_refused.RULE])]
    for workload in facts.cluster.workloads_of("apps", "leaderworkerset.x-k8s.io"):
        replicas = integer(workload.spec.get("replicas"))
        autoscaler = autoscaler_of(facts.cluster, workload) if replicas is not None else None
        if autoscaler is None or autoscaler.least == autoscaler.most == replicas:
            continue
        root = At(autoscaler.at.document, autoscaler.at.path[:-2])
        if any(is_inside(it, root) for it in refused):
            continue
        yield Hit(
            RULE,
            f"{workload} sets replicas {replicas}, but {autoscaler.name} scales it, so each apply undoes what the "
            "autoscaler decided; remove replicas",
            workload.at.to("spec", "replicas"),
            (autoscaler.at,),
        )


RULE = ObjectRule(
    "replicas-set-beside-autoscaler",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Remove replicas from the manifest.",
    judges=("Deployment", "LeaderWorkerSet", "ReplicaSet", "StatefulSet"),
    check=check,
    reads=("HorizontalPodAutoscaler", "ScaledObject"),
)
