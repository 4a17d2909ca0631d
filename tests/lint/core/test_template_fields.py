"""Misspelled fields of kinds whose CRD is not recorded."""

import pytest

from policygen.core.finding import at_path
from policygen.lint.core.template_fields import misspelt
from tests.objects import objects

JOB_SET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: a}
spec:
  replicatedJobs:
  - name: b
    replicas: 2
    template:
      spec:
        parallelism: 1
        template:
          spec:
            nodeSelector: {pool: a100}
            containers: [{name: c, image: d, resources: {limits: {nvidia.com/gpu: 1}}}]
"""
CLUSTER = """
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: a}
spec:
  headGroupSpec:
    template: {spec: {containers: [{name: c, image: d}]}}
  workerGroupSpecs:
  - groupName: b
    minReplicas: 1
    maxReplicas: 4
    template: {spec: {tolerations: [], containers: [{name: c, image: d}]}}
"""


@pytest.mark.parametrize(
    ("text", "name", "slip"),
    [
        (JOB_SET, "replicatedJobs", "replicatedJob"),
        (JOB_SET, "replicas", "replica"),
        (JOB_SET, "parallelism", "paralelism"),
        (JOB_SET, "nodeSelector", "nodeSelecter"),
        (JOB_SET, "resources", "resource"),
        (CLUSTER, "workerGroupSpecs", "workerGroupSpec"),
        (CLUSTER, "headGroupSpec", "headgroupSpec"),
        (CLUSTER, "tolerations", "toleration"),
    ],
)
def test_a_misspelt_field(text, name, slip):
    [obj] = objects(text.replace(name, slip))
    [found] = misspelt(obj)
    assert (found.path[-1], found.meant, found.key) == (slip, name, True)
    assert found.message.endswith(f'; did you mean "{name}"?')
    assert at_path(obj.data, found.path) is not None


@pytest.mark.parametrize("text", [JOB_SET, CLUSTER])
def test_known_and_unknown_fields_that_resemble_no_missing_one(text):
    [obj] = objects(text.replace("spec:\n", "spec:\n  network: {enableDNSHostnames: true}\n", 1))
    assert not [*misspelt(obj)]
