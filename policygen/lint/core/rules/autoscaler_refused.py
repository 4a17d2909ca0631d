"""A HorizontalPodAutoscaler has replica bounds or a metric target that are refused."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import Fault
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


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/autoscaling/validation/validation.go of Kubernetes 1.36.3."""
    for entry in facts.cluster.horizontal_pod_autoscalers:
        found = [*_bounds(entry)]
        for i, metric in enumerate(entry.fields.metrics):
            found += [(("metrics", i, *path), message) for path, message in _metric(entry, metric)]
        yield from (Hit(RULE, message, entry.at.to("spec", *path)) for path, message in found)


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
    for source, (known, one) in _VALUES.items():
        target = mapping(metric, source, "target")
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
