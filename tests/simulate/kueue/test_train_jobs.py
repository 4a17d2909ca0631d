"""The pods of TrainJobs."""

import pytest

from policygen.core.versions import DEFAULT
from policygen.kubernetes.kueue_settings import first
from policygen.simulate.kueue.jobs import jobs
from tests.objects import cluster

RUNTIME = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec:
  mlPolicy: {POLICY}
  template:
    spec:
      replicatedJobs:
      - name: dataset-initializer
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: dataset-initializer}}
          spec: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {priorityClassName: high, containers: [
            {name: node, resources: {requests: {cpu: 2}}}, {name: other, resources: {requests: {cpu: 4}}}]}}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 70}
---
"""


def found(spec="", policy="numNodes: 3", name="torch", queue="q"):
    job = (
        "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: t, namespace: n, "
        f"labels: {{kueue.x-k8s.io/queue-name: {queue}}}}}, spec: {{runtimeRef: {{name: {name}}}, {spec}}}}}"
    )
    it = cluster(RUNTIME.replace("POLICY", policy) + job)
    return jobs(it, first(it, DEFAULT["kueue"]))


def sets(*args):
    (it,), others = found(*args)
    assert (others, it.owner.kind, it.owner.name) == ([], "TrainJob", "t")
    assert it.name.startswith("trainjob-t-")
    assert (it.fields.queue_name, it.fields.priority) == ("q", 70)
    return {one.name: (one.count, dict(one.template.spec.requests)) for one in it.fields.pod_sets}


def test_the_runtime_has_the_pods():
    assert sets() == {"dataset-initializer": (1, {"cpu": 1}), "node": (3, {"cpu": 6})}


def test_the_train_job_sets_the_nodes_and_their_resources():
    trainer = "trainer: {numNodes: 8, resourcesPerNode: {limits: {nvidia.com/gpu: 2}}}"
    assert sets(trainer)["node"] == (8, {"nvidia.com/gpu": 2, "cpu": 4})
    assert sets("", "torch: {}")["node"][0] == 1


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("", "numNodes: 3", "gone"), "its ClusterTrainingRuntime gone does not exist"),
        (("", "mpi: {}"), "the mlPolicy of its runtime is not modelled"),
        (
            ("runtimePatches: [{trainingRuntimeSpec: {template: {spec: {replicatedJobs: []}}}}]",),
            "its runtimePatches change its pods, which is not modelled",
        ),
        (("", "numNodes: 3", "torch", "''"), "it has no label kueue.x-k8s.io/queue-name"),
    ],
)
def test_train_jobs_without_a_workload(args, reason):
    queued, others = found(*args)
    assert (queued, [it.reason for it in others]) == ([], [reason])
