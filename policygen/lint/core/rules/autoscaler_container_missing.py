"""A HorizontalPodAutoscaler scales by a container that the pods of its target do not have."""

from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.kubernetes.untyped import text
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_INJECTED = ("istio-proxy", "linkerd-proxy")
"""Containers that webhooks add to pods."""


def check(facts: Facts) -> Hits:
    """The autoscaler has no value of the metric.

    Source: pkg/controller/podautoscaler/metrics/client.go, getContainerMetrics, of Kubernetes 1.36.3.
    """
    workloads = {(it.namespace, it.kind, it.name): it for it in facts.cluster.workloads}
    for entry in facts.cluster.horizontal_pod_autoscalers:
        target = entry.fields.scale_target_ref
        workload = workloads.get((entry.namespace, text(target, "kind"), text(target, "name")))
        specs = [template.spec for template in workload.templates] if workload else []
        names = {it.name for each in specs for it in (*each.containers, *each.init_containers)}
        for i, metric in enumerate(entry.fields.metrics):
            name = text(metric, "containerResource", "container")
            if workload and name and names and name not in {*names, *_INJECTED}:
                yield Hit(
                    RULE,
                    f"{entry} scales by container {quoted(name)}, which the pods of {workload} do not have, so it "
                    f"has no value of this metric and never scales down; {suggest(name, names)}",
                    entry.at.to("spec", "metrics", i, "containerResource", "container"),
                    (workload.at,),
                )


RULE = ObjectRule(
    "autoscaler-container-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the name of a container of the pods.",
    judges=("HorizontalPodAutoscaler",),
    check=check,
    reads=KINDS,
)
