"""Reads the autoscaling of a model from the autoscaler of its workload."""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from msgspec import Struct

from policygen.adopt.trees import Scope
from policygen.core import quantity
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping, text
from policygen.kubernetes.workloads import Workload
from policygen.spec.types import Autoscaling

_METRIC = r"[A-Za-z_:][A-Za-z0-9_:]{0,199}"
_QUERY = re.compile(rf'sum\((?P<metric>{_METRIC})\{{([^"{{}}]|"[^"]*")*\}}\)')
"""A query of the requests of all pods."""
_URL = re.compile(r"https?://[^/ ]+[^ ]*")
_NUMBER = re.compile("[0-9]{1,9}")
_MOST_REPLICAS = _MOST_CONCURRENCY = 1_000_000
"""Bounds of the schemas of a Model and a Platform."""


class _Scaler(Struct, frozen=True):
    """An autoscaler of pods."""

    object: Object
    target: Mapping[str, Any]
    least: int
    most: int
    sources: int
    """How many metrics or triggers it has."""
    metric: tuple[str, int] | None = None
    """The metric of each pod, and its value."""

    @property
    def scaling(self) -> Autoscaling:
        """The autoscaling of a model, as far as it can state it."""
        most = min(self.most, _MOST_REPLICAS)
        least = min(max(self.least, 0), most)
        if self.metric is None or least < 1:
            return Autoscaling(least, most)
        name, value = self.metric
        return Autoscaling(least, most, value, name)


def autoscaling(cluster: Cluster, workload: Workload) -> Autoscaling | None:
    """The autoscaling of the model of a workload; None if no autoscaler scales it."""
    found = _of(cluster, workload)
    return None if found is None else found.scaling


def unstated(cluster: Cluster, workload: Workload) -> Iterator[str]:
    """What a Model cannot state of the autoscaler of a workload, one sentence each."""
    found = _of(cluster, workload)
    if found is None:
        return
    made = found.scaling
    if (made.min_replicas, made.max_replicas) != (found.least, found.most):
        yield (
            f"{found.object} has at least {found.least} and at most {found.most} replicas; the model has at least "
            f"{made.min_replicas} and at most {made.max_replicas}"
        )
    if found.sources and made.metric is None:
        yield (
            f"the metrics of {found.object} are not in the spec; a Model has only the mean of one metric of its "
            "pods, as a whole number, and then at least 1 replica"
        )


def _of(cluster: Cluster, workload: Workload) -> _Scaler | None:
    return cluster.derive(_scalers).get((workload.namespace, workload.kind, workload.name))


def _scalers(cluster: Cluster) -> Mapping[tuple[str, str, str], _Scaler]:
    """The first autoscaler of each target, by namespace, kind and name."""
    found: dict[tuple[str, str, str], _Scaler] = {}
    for it in _read(cluster):
        if it.most > 0:
            found.setdefault(
                (it.object.namespace, text(it.target, "kind"), text(it.target, "name")), it
            )
    return found


def _read(cluster: Cluster) -> Iterator[_Scaler]:
    for hpa in cluster.horizontal_pod_autoscalers:
        view = hpa.fields
        metric = _of_pods(view.metrics[0]) if len(view.metrics) == 1 else None
        yield _Scaler(hpa.object, view.scale_target_ref, *view.bounds, len(view.metrics), metric)
    for scaled in cluster.scaled_objects:
        keda = scaled.fields
        metric = _of_query(keda.triggers[0]) if len(keda.triggers) == 1 else None
        yield _Scaler(scaled.object, keda.target, *keda.bounds, len(keda.triggers), metric)


def prometheus(cluster: Cluster, scope: Scope) -> str | None:
    """The URL of the Prometheus that KEDA queries for models of the set; None if it scales none."""
    for scaled in cluster.scaled_objects:
        for trigger in scaled.fields.triggers if scope.has(scaled.labels) else ():
            address = text(trigger, "metadata", "serverAddress")
            if _URL.fullmatch(address):
                return address
    return None


def _of_query(trigger: Mapping[str, Any]) -> tuple[str, int] | None:
    """The metric of a query that policygen rendered, and its value for each pod."""
    found = _QUERY.fullmatch(text(trigger, "metadata", "query"))
    threshold = text(trigger, "metadata", "threshold")
    if text(trigger, "type") != "prometheus" or not found or not _NUMBER.fullmatch(threshold):
        return None
    return _stated(found["metric"], Fraction(threshold))


def _of_pods(metric: Mapping[str, Any]) -> tuple[str, int] | None:
    """The name of a metric of each pod, and its mean."""
    pods = mapping(metric, "pods")
    name, own = text(pods, "metric", "name"), mapping(pods, "metric", "selector")
    try:
        value = quantity.value_of(str(mapping(pods, "target").get("averageValue")))
    except ValueError:
        return None
    return None if own else _stated(name, value)


def _stated(name: str, value: Fraction) -> tuple[str, int] | None:
    """A metric and its value; None if a Model cannot state them."""
    is_valid = value.denominator == 1 and 1 <= value <= _MOST_CONCURRENCY
    return (name, int(value)) if is_valid and re.fullmatch(_METRIC, name) else None
