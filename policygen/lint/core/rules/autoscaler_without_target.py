"""The target of an autoscaler does not exist."""

from collections.abc import Mapping
from typing import Any

from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import text
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.autoscalers import is_scalable
from policygen.lint.core.autoscalers import targets as targets_of
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity, written

_SCALABLE = ("Deployment", "ReplicaSet", "StatefulSet")
_OF_APPS = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")


def check(facts: Facts) -> Hits:
    """Checks only known kinds, in namespaces with workloads in the input.

    Source: pkg/controller/podautoscaler/horizontal.go, FailedGetScale.
    """
    workloads = facts.cluster.derive(_workloads)
    cluster = facts.cluster
    targets: list[tuple[Entry[Any], str, Any]] = [
        *(
            (entry, "scaleTargetRef", target)
            for entry, target in targets_of(cluster)
            if is_scalable(target)
        ),
        *(
            (entry, "targetRef", entry.fields.target_ref)
            for entry in cluster.vertical_pod_autoscalers
        ),
    ]
    for entry, field, target in targets:
        if text(target, "apiVersion").startswith("apps/") and text(target, "kind"):
            yield from _unknown(entry, field, target)
        kind, name = target.get("kind"), target.get("name")
        names = workloads.get(entry.namespace)
        known = isinstance(kind, str) and kind in KINDS and isinstance(name, str)
        if not known or names is None:
            continue
        if (kind, name) not in names:
            same = sorted(it for it, other in names if other == name and it in _SCALABLE)
            others = [other for other_kind, other in names if other_kind == kind]
            advice = suggest(name, others) if others else f"write the name of an existing {kind}"
            at, meant = entry.at.to("spec", field, "name"), ""
            if len(same) == 1 and kind in _OF_APPS:
                at, meant = entry.at.to("spec", field, "kind"), same[0]
                advice = f"did you mean kind {meant}?"
            yield Hit(
                RULE,
                f'{entry} scales {kind} "{name}", which does not exist, so the autoscaler has no effect; {advice}',
                at,
                meant=written(at, meant),
            )


def _unknown(entry: Entry[Any], field: str, target: Mapping[str, Any]) -> Hits:
    """A kind or version that the API group apps does not have."""
    at = entry.at.to("spec", field)
    for key, known in (("kind", _OF_APPS), ("apiVersion", ("apps/v1",))):
        written = text(target, key)
        if written not in known:
            yield Hit(
                RULE,
                f"{entry} scales a target with {key} {quoted(written)}, which does not exist, so the autoscaler has no "
                f"effect; {suggest(written, known)}",
                at / key,
            )


def _workloads(cluster: Cluster) -> dict[str, set[tuple[str, str]]]:
    """Kinds and names of workloads, by namespace."""
    found: dict[str, set[tuple[str, str]]] = {}
    for workload in cluster.workloads:
        found.setdefault(workload.namespace, set()).add((workload.kind, workload.name))
    return found


RULE = ObjectRule(
    "autoscaler-without-target",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the kind and name of an existing workload as the target.",
    judges=("HorizontalPodAutoscaler", "ScaledObject", "VerticalPodAutoscaler"),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
)
