"""Volcano's jobs and their tasks as they were written."""

from collections.abc import Iterator

from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.untyped import whole
from policygen.lint.core.pod_templates import Part


def specs(cluster: Cluster) -> Iterator[Part]:
    """The `spec` of each job."""
    for workload in cluster.workloads:
        if workload.object.group == VOLCANO_BATCH:
            yield Part(workload, workload.at / "spec", workload.spec)


def task_name(index: int, task: Part) -> str:
    """The name of a task: the webhook gives one to those that have none."""
    return str(task.data.get("name") or f"default{index}")


def names_known(spec: Part) -> bool:
    """Whether no task has a name of a wrong type, which may be any."""
    tasks = spec.data.get("tasks")
    return isinstance(tasks, list | None) and all(
        isinstance(task.data.get("name"), str | None) for task in spec.items("tasks")
    )


def replicas(task: Part) -> int | None:
    """How many pods a task has; None where that is no number, and so refused already."""
    return 0 if task.data.get("replicas") is None else number(task, "replicas")


def number(part: Part, field: str) -> int | None:
    """A field that holds a whole number; None if it does not."""
    return whole(part.data.get(field))
