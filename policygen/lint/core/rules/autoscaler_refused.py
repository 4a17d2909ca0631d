"""A HorizontalPodAutoscaler has replica bounds or a metric target that are refused."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import Fault
from policygen.core.quoting import listed, quoted
from policygen.kubernetes.core import HorizontalPodAutoscalerView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_UTILIZATION, _VALUE, _AVERAGE = "averageUtilization", "value", "averageValue"
_VALUES: Mapping[str, tuple[tuple[str, ...], bool]] = {
    "resource": ((_AVERAGE, _UTILIZATION), True),
    "containerResource": ((_AVERAGE, _UTILIZATION), True),
    "pods": ((_AVERAGE,), True),
    "object": ((_VALUE, _AVERAGE), False),
    "external": ((_VALUE, _AVERAGE), True),
}
"""The values that a target of each source may have, and whether only one of them is allowed."""
_TYPES = ("Utilization", "Value", "AverageValue")


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/autoscaling/validation/validation.go of Kubernetes 1.36.3."""
    for entry in facts.cluster.horizontal_pod_autoscalers:
        found = [*_bounds(entry), *_target(entry)]
        for i, metric in enumerate(entry.fields.metrics):
            found += [(("metrics", i, *path), message) for path, message in _metric(entry, metric)]
        yield from (Hit(RULE, message, entry.at.to("spec", *path)) for path, message in found)


def _target(entry: Entry[HorizontalPodAutoscalerView]) -> Iterator[Fault]:
    target = mapping(entry.object.data, "spec", "scaleTargetRef")
    version = target.get("apiVersion", "")
    version = "" if version is None else version
    core = target.get("kind") == "ReplicationController"
    if target and isinstance(version, str) and "/" not in version and not core:
        yield (
            ("scaleTargetRef",),
            f"{entry} has a scaleTargetRef with apiVersion {quoted(version)}, which has no API group and is refused; write a group and a version, such as apps/v1",
        )


def _bounds(entry: Entry[HorizontalPodAutoscalerView]) -> Iterator[Fault]:
    autoscaler = entry.fields
    least = 1 if autoscaler.min_replicas is None else autoscaler.min_replicas
    if least < 1:
        yield (
            ("minReplicas",),
            f"{entry} has minReplicas {least}, which is refused; write 1 or more",
        )
    if autoscaler.max_replicas < 1:
        yield (
            ("maxReplicas",),
            f"{entry} has maxReplicas {autoscaler.max_replicas}, which is refused; write 1 or more",
        )
    elif autoscaler.max_replicas < least:
        yield (
            ("maxReplicas",),
            f"{entry} has maxReplicas {autoscaler.max_replicas} below minReplicas {least}, which is refused; write maxReplicas of at least {least}",
        )


def _metric(
    entry: Entry[HorizontalPodAutoscalerView], metric: Mapping[str, Any]
) -> Iterator[Fault]:
    sources = [f"{source[:1].upper()}{source[1:]}" for source in _VALUES]
    kind = metric.get("type")
    if isinstance(kind, str) and kind not in sources:
        yield (
            ("type",),
            f"{entry} has a metric of type {quoted(kind)}, which is refused; write {listed(sources, 'or')}",
        )
    for source, (known, one) in _VALUES.items():
        target = mapping(metric, source, "target")
        of = target.get("type")
        if isinstance(of, str) and of not in _TYPES:
            yield (
                (source, "target", "type"),
                f"{entry} has a metric target of type {quoted(of)}, which is refused; write {listed([*_TYPES], 'or')}",
            )
        share = target.get(_UTILIZATION)
        if isinstance(share, int) and share < 1:
            yield (
                (source, "target", _UTILIZATION),
                f"{entry} has averageUtilization {share}, which is refused; write 1 or more",
            )
        has = [name for name in known if target.get(name) is not None]
        if target and (not has or (one and len(has) > 1)):
            values = f"with {' and '.join(has)}" if has else f"without {' or '.join(known)}"
            yield (
                (source, "target"),
                f"{entry} has a metric target {values}, which is refused; write exactly one value in the target",
            )


RULE = ObjectRule(
    "autoscaler-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write minReplicas of at least 1, maxReplicas of at least minReplicas, and one value for each metric target.",
    judges=("HorizontalPodAutoscaler",),
    check=check,
)
