"""Volcano's jobs and their tasks as they were written."""

from collections.abc import Iterator

from policygen.cluster.view import VOLCANO_BATCH, Cluster
from policygen.lint.pod_templates import Part


def specs(cluster: Cluster) -> Iterator[Part]:
    """The `spec` of each job."""
    for workload in cluster.workloads:
        if workload.object.group == VOLCANO_BATCH:
            yield Part(workload, workload.at / "spec", workload.spec)


def task_name(index: int, task: Part) -> str:
    """The name of a task: the webhook gives one to those that have none."""
    return str(task.data.get("name") or f"default{index}")


def number(part: Part, field: str) -> int | None:
    """A field that holds a whole number; None if it does not."""
    value = part.data.get(field)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
