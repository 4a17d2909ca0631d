"""A VerticalPodAutoscaler changes the requests by which a HorizontalPodAutoscaler scales the same pods."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.quoting import quoted
from policygen.kubernetes.core import VerticalPodAutoscalerView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mappings, text, texts
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_BOTH = ("cpu", "memory")
_OFF = "Off"


def check(facts: Facts) -> Hits:
    """A utilization is a percentage of the request, so a new request changes the number of replicas.

    Source: docs/features.md of the VerticalPodAutoscaler 1.8, known limitations.
    """
    vertical = {
        (it.namespace, text(it.fields.target_ref, "kind"), text(it.fields.target_ref, "name")): it
        for it in facts.cluster.vertical_pod_autoscalers
    }
    for hpa in facts.cluster.horizontal_pod_autoscalers:
        target = hpa.fields.scale_target_ref
        kind, name = text(target, "kind"), text(target, "name")
        other = vertical.get((hpa.namespace, kind, name))
        changed = _changed(other) if other is not None else ()
        for path, resource in _utilizations(hpa.fields.metrics):
            if other is not None and resource in changed:
                yield Hit(
                    RULE,
                    f"{hpa} scales {kind} {quoted(name)} by the utilization of its {resource} request, which {other} "
                    'changes, so each change also changes the number of replicas; write updateMode: "Off", or '
                    "scale by another metric",
                    hpa.at.to("spec", "metrics", *path),
                    (other.at,),
                )
                break


def _utilizations(
    metrics: tuple[Mapping[str, Any], ...],
) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """The resources by whose utilization an autoscaler scales, with their paths."""
    for index, metric in enumerate(metrics):
        for field in ("resource", "containerResource"):
            if text(metric, field, "target", "type") == "Utilization":
                yield (index, field, "name"), text(metric, field, "name")


def _changed(vertical: Entry[VerticalPodAutoscalerView]) -> tuple[str, ...]:
    """The requests that a VerticalPodAutoscaler changes."""
    if vertical.fields.update_policy.get("updateMode") == _OFF:
        return ()
    policies = mappings(vertical.fields.resource_policy, "containerPolicies")
    if not policies:
        return _BOTH
    found: set[str] = set()
    for policy in policies:
        if text(policy, "mode") != _OFF:
            found |= {*(texts(policy, "controlledResources") or _BOTH)}
    return tuple(found)


RULE = ObjectRule(
    "autoscalers-share-metric",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy='Set updateMode of the VerticalPodAutoscaler to "Off", or scale replicas by another metric.',
    judges=("HorizontalPodAutoscaler",),
    check=check,
    reads=("VerticalPodAutoscaler",),
)
