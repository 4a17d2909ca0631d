"""Misspelled fields of pods in templates, and of kinds whose CRD is not recorded."""

import pytest

from policygen.api_validation.refusal import Reason
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


NEWER = JOB_SET.replace("v1alpha2", "v1beta1")
"""In a version whose schema is not recorded."""


@pytest.mark.parametrize(
    ("text", "name", "slip"),
    [
        (NEWER, "replicatedJobs", "replicatedJob"),
        (NEWER, "replicas", "replica"),
        (NEWER, "parallelism", "paralelism"),
        (JOB_SET, "nodeSelector", "nodeSelecter"),
        (JOB_SET, "resources", "resource"),
        (CLUSTER.replace("v1", "v2"), "workerGroupSpecs", "workerGroupSpec"),
        (CLUSTER.replace("v1", "v2"), "headGroupSpec", "headgroupSpec"),
        (CLUSTER, "tolerations", "toleration"),
    ],
)
def test_a_misspelt_field(text, name, slip):
    [obj] = objects(text.replace(name, slip))
    [found] = misspelt(obj)
    assert (found.path[-1], found.meant, found.key) == (slip, name, True)
    assert found.message.endswith(f'; did you mean "{name}"?')
    assert at_path(obj.data, found.path) is not None


def test_a_value_of_a_wrong_type_in_a_pod():
    text = JOB_SET.replace("containers:", 'hostNetwork: "true"\n            containers:')
    [found] = misspelt(*objects(text))
    assert (found.path[-1], found.reason) == ("hostNetwork", Reason.TYPE)
    assert not [*misspelt(*objects(text.replace('hostNetwork: "true"', "priority: 1.0")))]


@pytest.mark.parametrize("text", [NEWER, JOB_SET, CLUSTER])
def test_known_and_unknown_fields_that_resemble_no_missing_one(text):
    [obj] = objects(text.replace("spec:\n", "spec:\n  network: {enableDNSHostnames: true}\n", 1))
    assert not [*misspelt(obj)]
