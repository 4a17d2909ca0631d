"""Volcano Jobs and their tasks as written."""

from collections.abc import Iterator

from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.untyped import integer
from policygen.lint.core.pod_templates import Part


def specs(cluster: Cluster) -> Iterator[Part]:
    """The `spec` of each Volcano Job."""
    for workload in cluster.workloads:
        if workload.object.group == VOLCANO_BATCH:
            yield Part(workload, workload.spec, ("spec",))


def tasks(spec: Part) -> Iterator[tuple[str, Part]]:
    """The tasks of a Job by name; the webhook names tasks without a name."""
    for i, task in enumerate(spec.items("tasks")):
        yield str(task.data.get("name") or f"default{i}"), task


def names_known(spec: Part) -> bool:
    """Whether the names of all tasks are known: none has a wrong type."""
    tasks = spec.data.get("tasks")
    return isinstance(tasks, list | None) and all(
        isinstance(task.data.get("name"), str | None) for task in spec.items("tasks")
    )


def replicas(task: Part) -> int | None:
    """The number of pods of a task; None if it is not a number, which another rule reports."""
    return 0 if task.data.get("replicas") is None else number(task, "replicas")


def number(part: Part, field: str) -> int | None:
    """The whole number of a field, or None."""
    return integer(part.data.get(field))
