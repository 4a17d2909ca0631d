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
            {name: node, env: [{name: B}], resources: {requests: {cpu: 2}}}, {name: other, resources: {requests: {cpu: 4}}}]}}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 70}
---
"""
PATCH = """runtimePatches: [{manager: a.b/c, trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
  {name: node, template: {spec: {template: {spec: {PODS}}}}}]}}}}]"""


def made(spec="", policy="numNodes: 3", name="torch", queue="q"):
    job = (
        "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: t, namespace: n, "
        f"labels: {{kueue.x-k8s.io/queue-name: {queue}}}}}, spec: {{runtimeRef: {{name: {name}}}, {spec}}}}}"
    )
    return cluster(RUNTIME.replace("POLICY", policy) + job)


def found(*args):
    it = made(*args)
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


def test_patches_change_selectors_and_tolerations():
    pods = "nodeSelector: {b: c}, tolerations: [{key: t, operator: Exists}]"
    (it,), _ = found(PATCH.replace("PODS", pods))
    other, node = (one.template.spec for one in it.fields.pod_sets)
    assert (other.node_selector, other.tolerations) == ({}, ())
    assert (node.node_selector, [one.key for one in node.tolerations]) == ({"b": "c"}, ["t"])


def test_the_place_that_decides_a_field():
    spec = """trainer: {numNodes: 8, image: i, env: [{name: A}],
      resourcesPerNode: {limits: {nvidia.com/gpu: 2}}}, """
    it = made(spec + PATCH.replace("PODS", "nodeSelector: {b: c}"))
    ((at, job),) = it.train_jobs.items()
    pod = ("template", "spec", "template", "spec")

    def place(job_number, *steps):
        return job.written(at.to("spec", "replicatedJobs", job_number, *steps))

    def own(*steps):
        return at.to("spec", *steps)

    def of_runtime(*steps):
        return job.runtime.at.to("spec", "template", "spec", "replicatedJobs", *steps)

    node, other = (*pod, "containers", 0), (*pod, "containers", 1)
    limits = "limits", "nvidia.com/gpu"
    assert place(1, *node, "resources", *limits) == own("trainer", "resourcesPerNode", *limits)
    assert place(1, *other, "resources") == of_runtime(1, *other, "resources")
    assert place(0, *node, "resources") == of_runtime(0, *node, "resources")
    assert place(1, *node, "image") == own("trainer", "image")
    assert place(1, *node, "args") == of_runtime(1, *node, "args")
    assert place(1, *node, "env", 0) == of_runtime(1, *node, "env", 0)
    assert place(1, *node, "env", 1, "name") == own("trainer", "env", 0, "name")
    assert place(1, "replicas") == own("trainer", "numNodes")
    assert place(1, *pod, "nodeSelector", "b") == own("runtimePatches")
    assert place(1, *pod, "tolerations") == of_runtime(1, *pod, "tolerations")
    assert job.written(own("runtimeRef")) == own("runtimeRef")
    ((at, job),) = made().train_jobs.items()
    assert place(1, "replicas") == job.runtime.at.to("spec", "mlPolicy", "numNodes")


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("", "numNodes: 3", "gone"), "its ClusterTrainingRuntime gone does not exist"),
        (("", "mpi: {}"), "the mlPolicy of its runtime is not modelled"),
        (
            (PATCH.replace("PODS", "affinity: {}"),),
            "its runtimePatches change its pods, which is not modelled",
        ),
        (
            ("podTemplateOverrides: []",),
            "its runtimePatches change its pods, which is not modelled",
        ),
        (("", "numNodes: 3", "torch", "''"), "it has no label kueue.x-k8s.io/queue-name"),
    ],
)
def test_train_jobs_without_a_workload(args, reason):
    queued, others = found(*args)
    assert (queued, [it.reason for it in others]) == ([], [reason])
