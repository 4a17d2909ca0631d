"""An autoscaler's target is not there."""

from collections.abc import Iterator
from typing import Any

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Only for kinds that we know, and where the input has workloads of that namespace.

    Source: pkg/controller/podautoscaler/horizontal.go, FailedGetScale.
    """
    there = facts.cluster.derive(_workloads)
    cluster = facts.cluster
    targets: list[tuple[Entry[Any], str, Any]] = [
        *(
            (entry, "scaleTargetRef", entry.it.scale_target_ref)
            for entry in cluster.horizontal_pod_autoscalers
        ),
        *((entry, "targetRef", entry.it.target_ref) for entry in cluster.vertical_pod_autoscalers),
    ]
    for entry, field, target in targets:
        kind, name = target.get("kind"), target.get("name")
        names = there.get(entry.namespace)
        known = isinstance(kind, str) and kind in KINDS and isinstance(name, str)
        if not known or names is None:
            continue
        if (kind, name) not in names:
            others = [each for of, each in names if of == kind]
            hint = suggest(name, others) if others else "write the name of what it shall scale"
            yield Hit(
                RULE,
                f'{entry} scales {kind} "{name}", which is not there, so it does nothing; {hint}',
                entry.at.to("spec", field, "name"),
            )


def _workloads(cluster: Cluster) -> dict[str, set[tuple[str, str]]]:
    """Kinds and names of workloads by namespace."""
    found: dict[str, set[tuple[str, str]]] = {}
    for workload in cluster.workloads:
        found.setdefault(workload.namespace, set()).add((workload.kind, workload.name))
    return found


RULE = ObjectRule(
    "autoscaler-without-target",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("HorizontalPodAutoscaler", "VerticalPodAutoscaler"),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
)
