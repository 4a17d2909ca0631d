"""The labels that controllers add to pods. tests/servers/test_pod_labels.py asks the controllers."""

import pytest

from policygen.kubernetes.pod_labels import pod_labels
from tests.objects import workload

POD = "{metadata: {labels: {app: a}}, spec: {containers: [{name: m, image: a}]}}"
JOB = f"spec: {{template: {POD}}}"
VOLCANO = f"spec: {{queue: q, tasks: [{{name: t, replicas: 1, template: {POD}}}]}}"
SET = f"spec: {{replicatedJobs: [{{name: r, template: {{{JOB}}}}}]}}"
LEADER = f"spec: {{leaderWorkerTemplate: {{workerTemplate: {POD}, size: 1}}}}"
TORCH = f"spec: {{pytorchReplicaSpecs: {{Worker: {{template: {POD}}}}}}}"
RAY = f"spec: {{headGroupSpec: {{template: {POD}}}}}"


@pytest.mark.parametrize(
    ("kind", "spec", "added"),
    [
        ("batch/v1, kind: Job", JOB, {"batch.kubernetes.io/job-name": "x", "job-name": "x"}),
        ("apps/v1, kind: StatefulSet", JOB, {}),
        (
            "batch.volcano.sh/v1alpha1, kind: Job",
            VOLCANO,
            {
                "volcano.sh/job-name": "x",
                "volcano.sh/job-namespace": "n",
                "volcano.sh/queue-name": "q",
                "volcano.sh/task-spec": "t",
            },
        ),
        (
            "jobset.x-k8s.io/v1alpha2, kind: JobSet",
            SET,
            {
                "jobset.sigs.k8s.io/jobset-name": "x",
                "jobset.sigs.k8s.io/replicatedjob-name": "r",
            },
        ),
        (
            "leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet",
            LEADER,
            {"leaderworkerset.sigs.k8s.io/name": "x"},
        ),
        ("kubeflow.org/v1, kind: PyTorchJob", TORCH, {"training.kubeflow.org/job-name": "x"}),
        ("ray.io/v1, kind: RayCluster", RAY, {"ray.io/cluster": "x"}),
    ],
)
def test_labels_with_a_known_value_are_added(kind, spec, added):
    it = workload(f"{{apiVersion: {kind}, metadata: {{name: x, namespace: n}}, {spec}}}")
    (template,) = it.templates
    assert pod_labels(it, template) == {"app": "a", **added}


def test_a_generated_name_is_unknown():
    it = workload(f"{{apiVersion: batch/v1, kind: Job, metadata: {{generateName: x-}}, {JOB}}}")
    assert pod_labels(it, it.templates[0]) == {"app": "a"}
