"""A HorizontalPodAutoscaler scales by the utilization of requests that the pods of its target do not have."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import Path
from policygen.core.quoting import quoted
from policygen.kubernetes.core import HorizontalPodAutoscalerView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping, text
from policygen.kubernetes.workloads import KINDS, Container, PodSpec
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_RESOURCES = ("cpu", "memory")


def check(facts: Facts) -> Hits:
    """Every container needs a request, or the pod. Skips resources for which a LimitRange has a default.

    Source: pkg/controller/podautoscaler/replica_calculator.go, calculatePodRequests, of Kubernetes 1.36.3.
    """
    if not facts.cluster.horizontal_pod_autoscalers:
        return
    workloads = {(it.namespace, it.kind, it.name): it for it in facts.cluster.workloads}
    for entry in facts.cluster.horizontal_pod_autoscalers:
        target = entry.fields.scale_target_ref
        workload = workloads.get((entry.namespace, text(target, "kind"), text(target, "name")))
        if workload is None:
            continue
        ranges = facts.cluster.limit_ranges.by_namespace.get(entry.namespace, ())
        filled = {
            name
            for it in ranges
            for item in it.fields.limits
            if item.type == "Container"
            for name in item.filled_requests
        }
        for path, resource, only in _metrics(entry):
            if resource in filled:
                continue
            for template in workload.templates:
                if container := next(_lacking(template.spec, resource, only), None):
                    yield Hit(
                        RULE,
                        f"{entry} scales by the utilization of {resource}, but container {quoted(container.name)} of "
                        f"{workload} requests no {resource}, so the autoscaler cannot compute it and never scales; write "
                        f"a request of {resource} for this container, or an averageValue in the metric",
                        entry.at.to("spec", *path),
                        (template.at,),
                    )


def _metrics(entry: Entry[HorizontalPodAutoscalerView]) -> Iterator[tuple[Path, str, str]]:
    """The metrics of utilization: path, resource, and the container if it is only about one."""
    if mapping(entry.object.data, "spec").get("targetCPUUtilizationPercentage") is not None:
        yield ("targetCPUUtilizationPercentage",), "cpu", ""
    for i, metric in enumerate(entry.fields.metrics):
        for source in ("resource", "containerResource"):
            data: Mapping[str, Any] = mapping(metric, source)
            name = text(data, "name")
            if name in _RESOURCES and mapping(data, "target").get("averageUtilization") is not None:
                yield ("metrics", i, source, "name"), name, text(data, "container")


def _lacking(spec: PodSpec, resource: str, only: str) -> Iterator[Container]:
    """The containers without a request that count; none if the pod has one itself."""
    if not only and resource in spec.pod_level():
        return
    sidecars = (it for it in spec.init_containers if it.restart_policy == "Always")
    for container in (*spec.containers, *sidecars):
        if only in ("", container.name) and resource not in container.requests:
            yield container


RULE = ObjectRule(
    "autoscaler-without-request",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write a request of the resource for every container of the pods.",
    judges=("HorizontalPodAutoscaler",),
    check=check,
    reads=(*KINDS, "LimitRange"),
)
