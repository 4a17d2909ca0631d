"""The target of an autoscaler does not exist."""

from typing import Any

from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.autoscalers import is_scalable
from policygen.lint.core.autoscalers import targets as targets_of
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


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
        kind, name = target.get("kind"), target.get("name")
        names = workloads.get(entry.namespace)
        known = isinstance(kind, str) and kind in KINDS and isinstance(name, str)
        if not known or names is None:
            continue
        if (kind, name) not in names:
            others = [other for other_kind, other in names if other_kind == kind]
            advice = suggest(name, others) if others else f"write the name of an existing {kind}"
            yield Hit(
                RULE,
                f'{entry} scales {kind} "{name}", which does not exist, so the autoscaler has no effect; {advice}',
                entry.at.to("spec", field, "name"),
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
