"""A HorizontalPodAutoscaler has bounds, a target, a metric or a behavior that is refused."""

from collections.abc import Iterator

from policygen.core.finding import Fault
from policygen.kubernetes.core import HorizontalPodAutoscalerView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping
from policygen.lint.core import autoscaler_fields
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/autoscaling/validation/validation.go of Kubernetes 1.36.3."""
    for entry in facts.cluster.horizontal_pod_autoscalers:
        found = [
            *_bounds(entry),
            *autoscaler_fields.faults(entry, mapping(entry.object.data, "spec")),
        ]
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


RULE = ObjectRule(
    "autoscaler-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write minReplicas of at least 1, maxReplicas of at least minReplicas, and one value for each metric target.",
    judges=("HorizontalPodAutoscaler",),
    check=check,
)
