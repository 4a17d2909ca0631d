"""Rules check the pods of TrainJobs, and report the field that decides."""

import pytest

from tests.lint.linting import found_in

NODES = "\n---\n".join(
    f"{{apiVersion: v1, kind: Node, metadata: {{name: n{i}}}, status: {{conditions: [{{type: Ready, "
    'status: "True"}], allocatable: {cpu: 90, memory: 900Gi, pods: 110, nvidia.com/gpu: 8}}}'
    for i in range(2)
)
KUEUE = """
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: a}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: c}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: a
      resources:
      - {name: cpu, nominalQuota: 90}
      - {name: memory, nominalQuota: 900Gi}
      - {name: nvidia.com/gpu, nominalQuota: 16}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: nlp}, spec: {clusterQueue: c}}
---
"""
RUNTIME = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec:
  mlPolicy: {numNodes: 2, torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: example.com/a:1, resources: {
            requests: {cpu: 2, memory: 9Gi, nvidia.com/gpu: 4}, limits: {memory: 9Gi, nvidia.com/gpu: 4}}}]}}}
"""
LABEL = 'metadata.labels["kueue.x-k8s.io/queue-name"]'
GPUS = 'template.spec.template.spec.containers[0].resources.requests["nvidia.com/gpu"]'


def job(spec="", name="t", labels="kueue.x-k8s.io/queue-name: q", runtime="torch"):
    return (
        "\n---\n{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, "
        f"metadata: {{name: {name}, namespace: nlp, labels: {{{labels}}}}}, "
        f"spec: {{runtimeRef: {{name: {runtime}}}, {spec}}}}}"
    )


@pytest.fixture
def found(tmp_path):
    def run(*jobs, runtime=RUNTIME):
        text = NODES + KUEUE + runtime + "".join(jobs)
        return [(it.rule.name, it.object, it.path) for it in found_in(tmp_path, text)]

    return run


def test_sound_pods(found):
    assert found() == found(job()) == []


@pytest.mark.parametrize("runtime", [RUNTIME, "{}"])
def test_labels(found, runtime):
    labels = "kueue.x-k8s.io/queue-name: gone"
    assert found(job(labels=labels), runtime=runtime)[-1:] == [
        ("workload-without-local-queue", "TrainJob nlp/t", LABEL)
    ]


def test_no_queue(found):
    assert found(job(labels="a: b")) == [("workload-names-no-queue", "TrainJob nlp/t", LABEL)]


def test_the_field_that_decides(found):
    own = "TrainJob nlp/t"
    many = found(job("trainer: {numNodes: 9}"))
    assert many == [("workload-exceeds-quota", own, "spec.trainer.numNodes")]
    large = "resourcesPerNode: {requests: {cpu: 1, memory: 1Gi}, limits: {memory: 1Gi, nvidia.com/gpu: 16}}"
    ((_, object_, path),) = found(job(f"trainer: {{numNodes: 1, {large}}}"))
    assert (object_, path) == (own, 'spec.trainer.resourcesPerNode.limits["nvidia.com/gpu"]')


def test_paths_in_messages(tmp_path):
    annotation = "kueue.x-k8s.io/podset-required-topology"
    wrong = job().replace(
        "namespace: nlp,", f"namespace: nlp, annotations: {{{annotation}: a.b/rack}},"
    )
    (it,) = found_in(tmp_path, NODES + KUEUE + RUNTIME + wrong)
    assert it.message.endswith(
        "move it to spec.template.spec.replicatedJobs.0.template.spec.template.metadata.annotations "
        "of ClusterTrainingRuntime torch"
    )


def test_one_finding_for_a_runtime(found):
    many = RUNTIME.replace("numNodes: 2", "numNodes: 9")
    shared = "ClusterTrainingRuntime torch"
    assert found(job(), job(name="u"), runtime=many) == [
        ("workload-exceeds-quota", shared, "spec.mlPolicy.numNodes")
    ]
    large = RUNTIME.replace("gpu: 4", "gpu: 16")
    one = "trainer: {numNodes: 1}"
    ((_, object_, path),) = found(job(one), job(one, name="u"), runtime=large)
    assert (object_, path) == (shared, f"spec.template.spec.replicatedJobs[0].{GPUS}")
    assert found(runtime=large) == []
