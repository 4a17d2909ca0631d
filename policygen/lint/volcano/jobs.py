"""Volcano Jobs and their tasks as written."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.untyped import integer, text, texts
from policygen.kubernetes.workloads import Workload, sum_of
from policygen.lint.core.pod_templates import Part

_ENDS = frozenset({"AbortJob", "CompleteJob", "TerminateJob"})
"""Actions after which a Job is not active."""
_OF_ALL_PODS = _ENDS | {"RestartJob"}
_EVICTED = frozenset({"PodEvicted", "*"})
_COMPLETED = frozenset({"TaskCompleted", "*"})


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


def task_minimum(task: Part) -> int | None:
    """How many pods of a task a gang needs; None if a count is invalid.

    Source: pkg/webhooks/admission/jobs/mutate/mutate_job.go, mutateSpec.
    """
    if task.data.get("minAvailable") is not None:
        return number(task, "minAvailable")
    if task.data.get("partitionPolicy") is None:
        return replicas(task)
    policy = task.under("partitionPolicy")
    return (number(policy, "minPartitions") or 0) * (number(policy, "partitionSize") or 0)


class IgnoredMinimums(Struct, frozen=True, eq=False):
    """A Job whose minAvailable is below the sum of those of its tasks, which the scheduler then ignores."""

    needed: int
    total: int
    """The sum."""
    unset: tuple[str, ...]
    """The tasks without a minAvailable, of which all replicas count."""
    rest: int
    """What the minAvailable of the Job leaves for these tasks."""


def ignored_minimums(spec: Part) -> IgnoredMinimums | None:
    """The minimums of tasks that have no effect although one is written; None: they have.

    A task with dependsOn cannot have a minimum that counts. Source: pkg/scheduler/api/job_info.go,
    CheckTaskValid and CheckTaskReady.
    """
    every = list(tasks(spec))
    written = {
        name
        for name, task in every
        if number(task, "minAvailable") or number(task.under("partitionPolicy"), "minPartitions")
    }
    counts = {name: task_minimum(task) for name, task in every}
    known = [it for it in counts.values() if it is not None]
    needed = number(spec, "minAvailable")
    if not written or not needed or len(known) < len(every) or not 0 < needed < sum(known):
        return None
    if any(task.data.get("dependsOn") for _, task in every):
        return None
    if any((counts[name] or 0) > (replicas(task) or 0) for name, task in every):
        return None  # the webhook refuses such a minimum, and another rule reports it
    unset = tuple(name for name, count in counts.items() if name not in written and count)
    rest = needed - sum(counts[name] or 0 for name in written)
    return IgnoredMinimums(needed, sum(known), unset, rest)


def min_available(spec: Part) -> int | None:
    """How many pods of a Job start together; None if a count is invalid. The webhook writes the default.

    Source: pkg/webhooks/admission/jobs/mutate/mutate_job.go, patchDefaultMinAvailable.
    """
    if "minAvailable" in spec.data and number(spec, "minAvailable") != 0:
        return number(spec, "minAvailable")
    return sum_of(task_minimum(task) for task in spec.items("tasks"))


def number(part: Part, field: str) -> int | None:
    """The whole number of a field, or None."""
    return integer(part.data.get(field))


def ends_together(spec: Part) -> bool:
    """Whether a policy of a Job acts on all its pods when one is evicted."""
    return any(
        text(it.data, "action") in _OF_ALL_PODS
        and not _EVICTED.isdisjoint((text(it.data, "event"), *texts(it.data, "events")))
        for it in spec.items("policies")
    )


def ends_with_a_task(spec: Part) -> bool:
    """Whether a policy ends a Job when one of its tasks is complete, also before all pods have ended.

    True also for policies with a wrong type, which other rules report.
    """
    parts = (spec, *(task for _, task in tasks(spec)))
    found = [part.data["policies"] for part in parts if part.data.get("policies") is not None]
    return any(not isinstance(it, list) or any(map(_ends, it)) for it in found)


def _ends(policy: Any) -> bool:
    """Whether a policy does, or can if its type is wrong."""
    if not isinstance(policy, dict):
        return True
    action, event, events = (policy.get(it) for it in ("action", "event", "events"))
    if not (isinstance(action, str | None) and isinstance(event, str | None)):
        return True
    if not isinstance(events, list | None):
        return True
    words = {event, *(it for it in events or () if isinstance(it, str))}
    return action in _ENDS and not _COMPLETED.isdisjoint(words)
