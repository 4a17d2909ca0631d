"""The labels of the pods of a workload: those of the template, and those that its controller adds.

Source: pkg/controller/job/job_controller.go of Kubernetes 1.36.3; pkg/controllers/job of Volcano
1.14.1; the pages of JobSet, LeaderWorkerSet and Ray on labels; common/labels of the training operator.
"""

from collections.abc import Iterator, Mapping

from policygen.kubernetes.untyped import mappings, text
from policygen.kubernetes.workloads import PodTemplate, Workload

_NAMES = {
    "batch.volcano.sh": "volcano.sh/job-name",
    "jobset.x-k8s.io": "jobset.sigs.k8s.io/jobset-name",
    "leaderworkerset.x-k8s.io": "leaderworkerset.sigs.k8s.io/name",
    "kubeflow.org": "training.kubeflow.org/job-name",
}
"""The label with the name of the workload, by its API group."""


def pod_labels(workload: Workload, template: PodTemplate) -> Mapping[str, str]:
    """The labels that all pods of a template have with known values.

    Without labels that differ between the pods, such as statefulset.kubernetes.io/pod-name.
    """
    return {**template.labels, **dict(_added(workload, template))}


def _added(workload: Workload, template: PodTemplate) -> Iterator[tuple[str, str]]:
    name, group = text(workload.object.data, "metadata", "name"), workload.object.group
    if not name:  # the API server generates one
        return
    if group in _NAMES:
        yield _NAMES[group], name
    match group, workload.kind:
        case "batch", "Job":
            yield "batch.kubernetes.io/job-name", name
            yield "job-name", name
        case "ray.io", "RayCluster":
            yield "ray.io/cluster", name
        case "batch.volcano.sh", "Job":
            yield "volcano.sh/job-namespace", workload.namespace
            yield "volcano.sh/queue-name", text(workload.spec, "queue") or "default"
            yield from _of_item(workload, template, "volcano.sh/task-spec", "tasks")
        case "jobset.x-k8s.io", "JobSet":
            key = "jobset.sigs.k8s.io/replicatedjob-name"
            yield from _of_item(workload, template, key, "replicatedJobs")


def _of_item(
    workload: Workload, template: PodTemplate, key: str, items: str
) -> Iterator[tuple[str, str]]:
    """The name of the task or job of a list whose template this is."""
    index = template.at.path[len(workload.at.path) + 2]
    for number, item in enumerate(mappings(workload.spec, items)):
        if number == index and (name := text(item, "name")):
            yield key, name
