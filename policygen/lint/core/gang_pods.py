"""How many pods of each template of a workload must run at the same time."""

from collections.abc import Sequence

from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.untyped import mapping, mappings
from policygen.kubernetes.workloads import Workload
from policygen.lint.volcano import jobs

_TRAINING, _JOB_SET, _RAY = "kubeflow.org", "jobset.x-k8s.io", "ray.io"


def pods_together(workload: Workload) -> Sequence[int]:
    """The number for each template; empty if there is only one template, or if a number is not certain.

    Tasks of a Volcano Job start with their minAvailable; other kinds run all their pods. Pods that start
    after others have ended, and numbers that a controller changes, are not certain.
    Source: pkg/scheduler/api/job_info.go, CheckTaskValid, of Volcano 1.14.1; `dependsOn` of JobSet;
    `elasticPolicy` and `schedulingPolicy` of the training operator; `enableInTreeAutoscaling` of KubeRay.
    """
    counts = [it.replicas for it in workload.templates]
    known = [it for it in counts if it is not None]
    if len(counts) < 2 or len(known) < len(counts):
        return ()
    spec = workload.spec
    match workload.object.group:
        case group if group == VOLCANO_BATCH:
            return _of_tasks(workload)
        case group if group == _JOB_SET:
            after = (
                one.get("status") == "Complete"
                for job in mappings(spec, "replicatedJobs")
                for one in mappings(job, "dependsOn")
            )
            return () if any(after) else known
        case group if group == _TRAINING:
            fewer = mapping(spec, "runPolicy", "schedulingPolicy").get("minAvailable")
            return () if spec.get("elasticPolicy") or fewer is not None else known
        case group if group == _RAY:
            ways = (spec, mapping(spec, "rayClusterSpec"), mapping(spec, "rayClusterConfig"))
            groups = [one for way in ways for one in mappings(way, "workerGroupSpecs")]
            scaled = any(way.get("enableInTreeAutoscaling") for way in ways)
            return () if scaled or any(it.get("suspend") for it in groups) else known
    return known


def _of_tasks(workload: Workload) -> Sequence[int]:
    """The minAvailable of each task, if that of the Job is at least their sum."""
    spec = jobs.spec_of(workload)
    tasks = [task for _, task in jobs.tasks(spec)]
    least = [jobs.task_minimum(it) for it in tasks]
    known = [it for it in least if it is not None]
    needed = jobs.min_available(spec)
    if len(known) != len(workload.templates) or any(it.data.get("dependsOn") for it in tasks):
        return ()
    return known if needed is not None and needed >= sum(known) else ()
