"""Volcano Jobs and their tasks as written."""

from collections.abc import Iterator

from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.untyped import integer
from policygen.kubernetes.workloads import Workload
from policygen.lint.core.pod_templates import Part


def specs(cluster: Cluster) -> Iterator[Part]:
    """The `spec` of each Volcano Job."""
    return map(spec_of, cluster.workloads_of(VOLCANO_BATCH))


def spec_of(workload: Workload) -> Part:
    """The `spec` of a workload as written."""
    return Part(workload, workload.spec, ("spec",))


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


def min_available(spec: Part) -> int | None:
    """How many pods of a Job start together; None if a count is invalid. The webhook writes the default.

    Source: pkg/webhooks/admission/jobs/mutate/mutate_job.go, patchDefaultMinAvailable.
    """
    if "minAvailable" in spec.data and number(spec, "minAvailable") != 0:
        return number(spec, "minAvailable")
    counts = [
        replicas(task) if task.data.get("minAvailable") is None else number(task, "minAvailable")
        for task in spec.items("tasks")
    ]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def number(part: Part, field: str) -> int | None:
    """The whole number of a field, or None."""
    return integer(part.data.get(field))
