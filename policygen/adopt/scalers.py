"""Reads the autoscaling of a model from the autoscaler of its workload."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from policygen.adopt.trees import Scope
from policygen.core import quantity
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.untyped import mapping, text
from policygen.kubernetes.workloads import Workload
from policygen.spec.types import Autoscaling

_QUERY = re.compile(r"sum\((?P<metric>[A-Za-z_:][A-Za-z0-9_:]*)\{")
"""The begin of a query of the requests of all pods."""


class _Scaler(Struct, frozen=True):
    """An autoscaler of pods."""

    namespace: str
    target: Mapping[str, Any]
    least: int
    most: int
    metric: tuple[str, int] | None = None
    """The metric of each pod, and its value."""


def autoscaling(cluster: Cluster, workload: Workload) -> Autoscaling | None:
    """The autoscaling of the model of a workload; None if no autoscaler scales it."""
    it = cluster.derive(_scalers).get((workload.namespace, workload.kind, workload.name))
    if it is None:
        return None
    if it.metric is None or it.least < 1:
        return Autoscaling(it.least, it.most)
    name, value = it.metric
    return Autoscaling(it.least, it.most, value, name)


def _scalers(cluster: Cluster) -> Mapping[tuple[str, str, str], _Scaler]:
    """The first autoscaler of each target, by namespace, kind and name."""
    found: dict[tuple[str, str, str], _Scaler] = {}
    for it in _read(cluster):
        if it.most:
            found.setdefault((it.namespace, text(it.target, "kind"), text(it.target, "name")), it)
    return found


def _read(cluster: Cluster) -> Iterator[_Scaler]:
    for hpa in cluster.horizontal_pod_autoscalers:
        view = hpa.fields
        least = 1 if view.min_replicas is None else view.min_replicas
        metric = _of_pods(view.metrics[0]) if len(view.metrics) == 1 else None
        yield _Scaler(hpa.namespace, view.scale_target_ref, least, view.max_replicas, metric)
    for scaled in cluster.scaled_objects:
        keda = scaled.fields
        target = {"kind": "Deployment", **keda.scale_target_ref}
        least, most = keda.min_replica_count or 0, keda.max_replica_count or 0
        metric = _of_query(keda.triggers[0]) if len(keda.triggers) == 1 else None
        yield _Scaler(scaled.namespace, target, least, most, metric)


def prometheus(cluster: Cluster, scope: Scope) -> str | None:
    """The URL of the Prometheus that KEDA asks for models of the set; None if it scales none."""
    for scaled in cluster.scaled_objects:
        for trigger in scaled.fields.triggers if scope.has(scaled.labels) else ():
            if address := text(trigger, "metadata", "serverAddress"):
                return address
    return None


def _of_query(trigger: Mapping[str, Any]) -> tuple[str, int] | None:
    """The metric of a query that policygen rendered, and its value for each pod."""
    found = _QUERY.match(text(trigger, "metadata", "query"))
    threshold = text(trigger, "metadata", "threshold")
    if text(trigger, "type") != "prometheus" or not found or not threshold.isdecimal():
        return None
    return found["metric"], int(threshold)


def _of_pods(metric: Mapping[str, Any]) -> tuple[str, int] | None:
    """The name of a metric of each pod, and its mean; None if a Model cannot state them."""
    pods = mapping(metric, "pods")
    name, own = text(pods, "metric", "name"), mapping(pods, "metric", "selector")
    try:
        value = quantity.value_of(str(mapping(pods, "target").get("averageValue")))
    except ValueError:
        return None
    return (name, int(value)) if name and not own and value >= 1 and value == int(value) else None
