"""The edits that bring a HorizontalPodAutoscaler from autoscaling/v2beta1 to v2.

Source: pkg/apis/autoscaling/v2beta1/conversion.go of Kubernetes 1.34, the last release with this version.
"""

from collections.abc import Mapping
from typing import Any

from policygen.core.finding import At, Edit, NewMapping, NewValue, Verb
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping

VERSION = "autoscaling/v2beta1"
_SPEC = frozenset({"scaleTargetRef", "minReplicas", "maxReplicas", "metrics"})
_BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior"
"""An annotation from which older servers set spec.behavior."""
_TARGETS: Mapping[str, tuple[str, str]] = {
    "targetAverageUtilization": ("Utilization", "averageUtilization"),
    "targetAverageValue": ("AverageValue", "averageValue"),
    "targetValue": ("Value", "value"),
}
"""The field of a target to its type and its field in v2."""
_SOURCES: Mapping[str, str] = {
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
}
_FIELDS: Mapping[str, frozenset[str]] = {
    "resource": frozenset({"name", "targetAverageUtilization", "targetAverageValue"}),
    "containerResource": frozenset(
        {"name", "container", "targetAverageUtilization", "targetAverageValue"}
    ),
    "pods": frozenset({"metricName", "selector", "targetAverageValue"}),
    "object": frozenset({"target", "metricName", "selector", "targetValue", "averageValue"}),
    "external": frozenset({"metricName", "metricSelector", "targetValue", "targetAverageValue"}),
}


def upgraded(object_: Object) -> tuple[Edit, ...]:
    """The edits of the fields and of the apiVersion; empty if the conversion is not certain.

    They remove the status, which the server ignores when the object is applied. A field that v2beta1 does
    not have had no effect there, but can have one in v2, so its object is not converted.
    """
    spec = object_.data.get("spec")
    if not isinstance(spec, dict) or not spec.keys() <= _SPEC:
        return ()
    if _BEHAVIOR in mapping(object_.data, "metadata", "annotations"):
        return ()
    metrics = spec.get("metrics")
    if not isinstance(metrics, list | None):
        return ()
    edits = [Edit(Verb.REWRITE, object_.at / "apiVersion", "autoscaling/v2")]
    for i, entry in enumerate(metrics or ()):
        made = _metric(entry, object_.at.to("spec", "metrics", i))
        if not made:
            return ()
        edits += made
    if "status" in object_.data:
        edits.append(Edit(Verb.REMOVE, object_.at / "status"))
    return tuple(edits)


def _metric(entry: Any, at: At) -> list[Edit]:
    """The edits of one metric; empty if they are not certain."""
    field = _SOURCES.get(str(entry.get("type"))) if isinstance(entry, dict) else None
    if field is None or entry.keys() != {"type", field}:
        return []
    source, there = entry[field], at / field
    if not isinstance(source, dict) or not source.keys() <= _FIELDS[field]:
        return []
    if any(it is None for it in source.values()):
        return []
    target = _target(source, there)
    if not target or "metricName" not in _FIELDS[field]:
        return target
    metric = _identifier(source, there)
    if not metric or field != "object":
        return [*metric, *target] if metric else []
    if "target" not in source:
        return []
    return [Edit(Verb.RENAME, there / "target", "describedObject"), *metric, *target]


def _target(source: Mapping[str, Any], at: At) -> list[Edit]:
    """The edits of the one field with the target of a metric."""
    found = [it for it in _TARGETS if it in source]
    if len(found) != 1 or not _is_scalar(source[found[0]]):
        return []
    kind, name = _TARGETS[found[0]]
    if "averageValue" not in source:
        return _moved(at / found[0], "target", name, ("type", kind))
    before = ("type", "AverageValue"), ("value", source["targetValue"])
    return [
        *_moved(at / "averageValue", "target", "averageValue", *before),
        Edit(Verb.REMOVE, at / "targetValue"),
    ]


def _identifier(source: Mapping[str, Any], at: At) -> list[Edit]:
    """The edits of the name and the selector of a metric."""
    name = source.get("metricName")
    if not isinstance(name, str):
        return []
    selector = next((it for it in ("selector", "metricSelector") if it in source), None)
    if selector is None:
        return _moved(at / "metricName", "metric", "name")
    if not isinstance(source[selector], dict):
        return []
    return [
        *_moved(at / selector, "metric", "selector", ("name", name)),
        Edit(Verb.REMOVE, at / "metricName"),
    ]


def _moved(at: At, name: str, key: str, *before: tuple[str, NewValue]) -> list[Edit]:
    """The edits that make `name: {before, key: value}` of a field."""
    return [
        Edit(Verb.RENAME, at, name),
        Edit(Verb.NEST, at, NewMapping((*before, (key, "")))),
    ]


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
