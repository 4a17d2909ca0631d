"""The kind that a misspelled kind or apiVersion was meant to be."""

import pytest

from policygen.lint.core.kind_names import wrong_kind
from tests.objects import objects

TASKS = "schedulerName: volcano, queue: a, minAvailable: 1, tasks: []"


def meant(api_version, kind, spec=""):
    (it,) = objects(
        f"{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: a}}, spec: {{{spec}}}}}"
    )
    found = wrong_kind(it)
    return found and (found.api_version, found.kind, found.message.rpartition("; ")[2])


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "expected"),
    [
        ("batch/v1", "job", "", ("batch/v1", "Job", 'did you mean "Job"?')),
        ("batch/v1", "Jobs", "", ("batch/v1", "Job", 'did you mean "Job"?')),
        ("batch/v2", "Jobs", "", ("batch/v1", "Job", "write apiVersion: batch/v1 and kind: Job")),
        ("v1", "Job", "template: {}", ("batch/v1", "Job", "write apiVersion: batch/v1")),
        ("v1", "Job", TASKS, ("batch.volcano.sh/v1alpha1", "Job", "write apiVersion: batch.volcano.sh/v1alpha1")),
        ("v1", "deployment", "", ("apps/v1", "Deployment", "write apiVersion: apps/v1 and kind: Deployment")),
        ("apps/v1", "Job", "replicas: 1, strategy: {}", ("apps/v1", "Deployment", "write kind: Deployment")),
        ("ray.io/v1", "Raycluster", "", ("ray.io/v1", "RayCluster", 'did you mean "RayCluster"?')),
        ("batch/v1", "Job", TASKS, ("batch.volcano.sh/v1alpha1", "Job", "write apiVersion: batch.volcano.sh/v1alpha1")),
        ("batch.volcano.sh/v1alpha1", "Job", "template: {}, completions: 1", ("batch/v1", "Job", "write apiVersion: batch/v1")),
        ("kueue.x-k8s.io/v1beta2", "Localqueue", "", ("kueue.x-k8s.io/v1beta2", "LocalQueue", 'did you mean "LocalQueue"?')),
    ],
)  # fmt: skip
def test_a_wrong_kind(api_version, kind, spec, expected):
    assert meant(api_version, kind, spec) == expected


@pytest.mark.parametrize(
    ("api_version", "kind", "spec"),
    [
        ("batch/v1", "Job", "template: {}, queue: a"),
        ("batch/v1", "Job", "template: {}"),
        ("v1", "Event", ""),
        ("v1", "Template", ""),
        ("v1", "DeploymentConfig", ""),
        ("v1", "ConfigMapList", ""),
        ("policy/v1", "Eviction", ""),
        ("scheduling.k8s.io/v1alpha1", "Workload", "podGroups: []"),
        ("scheduling.k8s.io/v1alpha2", "PodGroup", "schedulingPolicy: {}"),
        ("monitoring.coreos.com/v1", "ServiceMonitor", ""),
        ("kueue.x-k8s.io", "ClusterQueue", ""),
    ],
)
def test_a_kind_that_may_be_meant(api_version, kind, spec):
    assert meant(api_version, kind, spec) is None
