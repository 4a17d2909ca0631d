"""A HorizontalPodAutoscaler has bounds, a target, a metric or a behavior that is refused."""

from collections.abc import Iterator

from policygen.core.finding import Fault
from policygen.kubernetes.core import HorizontalPodAutoscalerView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping
from policygen.lint.core import autoscaler_fields
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/autoscaling/validation/validation.go of Kubernetes 1.36.3."""
    for entry in facts.cluster.horizontal_pod_autoscalers:
        faults = autoscaler_fields.faults(entry, mapping(entry.object.data, "spec"))
        for path, message in (*_bounds(entry), *faults):
            yield Hit(RULE, message, entry.at.to("spec", *path))
        yield from _order(entry)


def _order(entry: Entry[HorizontalPodAutoscalerView]) -> Hits:
    """A minimum above the maximum. Either can be wrong; the maximum bounds what the pods need."""
    least, most = entry.fields.min_replicas, entry.fields.max_replicas
    if least is not None and 1 <= most < least:
        yield Hit(
            RULE,
            f"{entry} has maxReplicas {most} below minReplicas {least}, which is refused; write minReplicas of at "
            f"most {most}, or maxReplicas of at least {least}",
            entry.at.to("spec", "maxReplicas"),
            (entry.at.to("spec", "minReplicas"),),
            meant=(Edit(Verb.REWRITE, entry.at.to("spec", "minReplicas"), most),),
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


RULE = ObjectRule(
    "autoscaler-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write minReplicas of at least 1, maxReplicas of at least minReplicas, and one value for each metric target.",
    judges=("HorizontalPodAutoscaler",),
    check=check,
)
