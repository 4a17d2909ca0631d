"""Label selectors of queues and of workloads, with their paths."""

from collections.abc import Iterator, Sequence
from typing import Any

from policygen.api_validation.selectors import expression_faults
from policygen.core.finding import Fault, Path
from policygen.core.label_grammar import key_fault, value_fault
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import LabelSelector, Requirement
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping, texts
from policygen.kubernetes.workloads import Workload

Owner = Entry[ClusterQueueView] | Workload

OWNERS = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
"""Kinds that must select the pods of their own template."""


def selectors(cluster: Cluster) -> Iterator[tuple[Owner, Path, LabelSelector]]:
    """Each selector with its object and path."""
    for queue in cluster.cluster_queues:
        if queue.fields.namespace_selector is not None:
            yield queue, ("spec", "namespaceSelector"), queue.fields.namespace_selector
    for workload, selector in of_workloads(cluster):
        yield workload, ("spec", "selector"), selector


def of_workloads(cluster: Cluster) -> Sequence[tuple[Workload, LabelSelector]]:
    """The workloads that must select their pods, each with its selector, if it can be read."""
    return cluster.derive(_of_workloads)


def _of_workloads(cluster: Cluster) -> Sequence[tuple[Workload, LabelSelector]]:
    found = ((it, of_pods(it)) for it in cluster.workloads_of("apps"))
    return [(workload, selector) for workload, selector in found if selector is not None]


def of_pods(workload: Workload) -> LabelSelector | None:
    """The selector of a kind that must have one; None for other kinds, or if it cannot be read."""
    if workload.object.group != "apps" or workload.kind not in OWNERS:
        return None
    found = workload.spec.get("selector")
    return of_data(found) if isinstance(found, dict) else None


def of_data(found: dict[str, Any]) -> LabelSelector | None:
    """The selector in unchecked data; None if it cannot be read."""
    labels, expressions = found.get("matchLabels") or {}, found.get("matchExpressions") or []
    if not isinstance(labels, dict) or not all(isinstance(v, str) for v in labels.values()):
        return None
    if not isinstance(expressions, list) or not all(map(_is_typed, expressions)):
        return None
    return LabelSelector(
        labels,
        tuple(Requirement(it["key"], it["operator"], texts(it, "values")) for it in expressions),
    )


def _is_typed(expression: Any) -> bool:
    """Whether the fields of a requirement have their types."""
    values = mapping(expression).get("values") or []
    return (
        isinstance(expression, dict)
        and isinstance(values, list)
        and all(
            isinstance(it, str)
            for it in (expression.get("key"), expression.get("operator"), *values)
        )
    )


def faults(selector: LabelSelector) -> Iterator[Fault]:
    """What is wrong with a selector, and where."""
    for key, value in selector.match_labels.items():
        for fault in (key_fault(key), value_fault(value)):
            if fault:
                yield ("matchLabels", key), fault
    for i, it in enumerate(selector.match_expressions):
        for path, _, message in expression_faults(it.key, it.operator, it.values):
            yield ("matchExpressions", i, *path), message
