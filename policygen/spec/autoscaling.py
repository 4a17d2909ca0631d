"""Parses the autoscaling of a model, and checks what the schema cannot check."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.spec.fields import View
from policygen.spec.rules import INVALID_VALUE
from policygen.spec.types import Autoscaling


def of_model(spec: View) -> Autoscaling | None:
    """The bounds of replicas; None if they are not set. Adds hits about a metric that cannot scale."""
    view = spec.view("autoscaling")
    if not view:
        return None
    metric = view.text("metric")
    if metric is not None:
        spec.hits += _faults(spec, view)
    return Autoscaling(
        min_replicas=view.number("minReplicas") or 0,
        max_replicas=view.number("maxReplicas") or 1,
        target_concurrency=view.number("targetConcurrency"),
        metric=metric,
    )


def _faults(spec: View, view: View) -> Iterator[Hit]:
    at = view.at / "metric"
    if spec.data.get("workload", "serving") != "serving":
        message = (
            "only serving models have requests in flight, so no autoscaler can scale this one; remove metric, "
            "or write workload: serving"
        )
        yield Hit(INVALID_VALUE, message, at)
        return
    if spec.view("gang"):
        message = (
            "minReplicas and maxReplicas have no effect on a gang, so no autoscaler is rendered; remove "
            "metric or gang"
        )
        yield Hit(INVALID_VALUE, message, at)
        return
    if not view.number("minReplicas"):
        message = (
            "without a pod, no metric of a pod exists, so an autoscaler never starts the first one; write "
            "minReplicas: 1 or more, or remove metric"
        )
        yield Hit(INVALID_VALUE, message, view.at / "minReplicas")
    if view.number("targetConcurrency") is None:
        message = (
            "an autoscaler needs the value that the metric of each pod should have; write "
            "targetConcurrency, the number of requests in flight of one replica"
        )
        yield Hit(INVALID_VALUE, message, view.at.on_key())
