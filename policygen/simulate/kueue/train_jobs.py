"""The pods of TrainJobs, which are those of the JobSet in their runtime.

Source: pkg/controller/jobs/trainjob of Kueue 0.19.2; pkg/runtime of the Kubeflow Trainer 2.2.1.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from msgspec.structs import replace

from policygen.core.finding import at_path
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping, mappings, text
from policygen.kubernetes.workloads import Workload
from policygen.simulate.kueue.pod_sets import NotQueuedError

GROUP, KIND = "trainer.kubeflow.org", "TrainJob"
_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
"""The label with the part that a job of the runtime has."""
_TRAINER, _NODE = "trainer", "node"
_INITIALIZERS = ("dataset-initializer", "model-initializer")
_NOT_MODELLED = ("mpi", "flux")


def train_job(cluster: Cluster, object_: Object) -> Workload:
    """A TrainJob with the pod templates of its runtime. Raises NotQueuedError."""
    spec, runtime = mapping(object_.data, "spec"), _runtime(cluster, object_)
    for patch in mappings(spec, "runtimePatches"):
        if at_path(patch, ("trainingRuntimeSpec", "template", "spec")):
            raise NotQueuedError(
                "its runtimePatches change its pods, which is not modelled", unknown=True
            )
    policy = mapping(runtime, "spec", "mlPolicy")
    if any(it in policy for it in _NOT_MODELLED):
        raise NotQueuedError("the mlPolicy of its runtime is not modelled", unknown=True)
    jobs = deepcopy(mappings(runtime, "spec", "template", "spec", "replicatedJobs"))
    for job in jobs:
        _complete(job, spec, policy)
    made = replace(
        object_,
        api_version="jobset.x-k8s.io/v1alpha2",
        kind="JobSet",
        data={**object_.data, "spec": {**spec, "replicatedJobs": jobs}},
    )
    found = Cluster([made])
    if found.malformed or not found.workloads:
        raise NotQueuedError("its runtime cannot be read", unknown=True)
    owner = replace(made, api_version=object_.api_version, kind=object_.kind)
    return Workload.of(owner, found.workloads[0].templates)


def _runtime(cluster: Cluster, object_: Object) -> Mapping[str, Any]:
    """The data of its runtime."""
    reference = mapping(object_.data, "spec", "runtimeRef")
    name, kind = text(reference, "name"), text(reference, "kind") or "ClusterTrainingRuntime"
    namespace = "" if kind == "ClusterTrainingRuntime" else object_.namespace
    for it in cluster.of(GROUP, kind):
        if (it.name, it.namespace) == (name, namespace):
            return it.data
    raise NotQueuedError(f"its {kind} {name} does not exist", unknown=True)


def _complete(job: dict[str, Any], spec: Mapping[str, Any], policy: Mapping[str, Any]) -> None:
    """Write the number of pods, and the resources of the trainer, into a job of the runtime."""
    step = text(job, "template", "metadata", "labels", _STEP)
    pods = mapping(job, "template", "spec")
    count = pods.get("parallelism", 1)
    if step == _TRAINER:
        count = policy.get("numNodes", 1) if policy else count
        count = mapping(spec, "trainer").get("numNodes", count)
        resources = mapping(spec, "trainer", "resourcesPerNode")
        for container in mappings(pods, "template", "spec", "containers"):
            if container.get("name") == _NODE and resources:
                container["resources"] = resources
    if step == _TRAINER or step in _INITIALIZERS:
        job["replicas"] = 1
    pods["parallelism"] = pods["completions"] = count
