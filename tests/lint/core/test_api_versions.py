"""Groups, versions and kinds that the servers of a target serve."""

import pytest

from policygen.core.versions import DEFAULT, Version
from policygen.lint.core import removed_versions
from policygen.lint.core.api_versions import fault, is_of_kind, successor
from policygen.lint.core.rules import api_version_not_served
from tests.objects import facts, objects


def thing(api_version, kind):
    (it,) = objects(f"{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: a}}}}")
    return it


def target(**minors):
    return DEFAULT | {name: Version(DEFAULT[name].major, minor) for name, minor in minors.items()}


@pytest.mark.parametrize(
    ("api_version", "kind", "minor", "words"),
    [
        ("kueue.x-k8s.io/v1beta2", "Cohort", 19, None),
        ("kueue.x-k8s.io/v1beta2", "Cohort", 14, "does not serve v1beta2; write kueue.x-k8s.io/v1beta1"),
        ("kueue.x-k8s.io/v1beta2", "Topology", 13, "does not serve v1beta2; write kueue.x-k8s.io/v1alpha1"),
        ("kueue.x-k8s.io/v1beta1", "Topology", 13, "only as v1alpha1"),
        ("kueue.x-k8s.io/v1alpha1", "Cohort", 14, None),
        ("kueue.x-k8s.io/v1alpha1", "Cohort", 19, "is not served; write kueue.x-k8s.io/v1beta2"),
        ("kueue.x-k8s.io/v1beta2", "ClusterQueu", 19, 'did you mean "ClusterQueue"'),
        ("kueue.x-k8s.io", "Cohort", 19, "is a group without a version; write kueue.x-k8s.io/v1beta2"),
        ("kuue.x-k8s.io/v1beta2", "Cohort", 19, 'did you mean "kueue.x-k8s.io"'),
        ("batch", "Job", 19, None),
        ("batch/v2", "Job", 19, "is not served; write batch/v1"),
        ("example.com/v1", "Thing", 19, None),
        ("autoscaling/v2beta2", "HorizontalPodAutoscaler", 19, "1.26 removed autoscaling/v2beta2; write autoscaling/v2"),
        ("apps/v1beta2", "DaemonSet", 19, "write apps/v1"),
        ("extensions/v1beta1", "Deployment", 19, "write apps/v1"),
        ("policy/v1beta1", "PodSecurityPolicy", 19, "delete this object"),
        ("storage.k8s.io/v1beta1", "Thing", 19, None),
        ("jobset.x-k8s.io/v1alpha1", "JobSet", 19, "no longer serves jobset.x-k8s.io/v1alpha1; write jobset.x-k8s.io/v1alpha2"),
        ("jobset.x-k8s.io/v1alpha2", "JobSet", 19, None),
        ("jobset.x-k8s.io/v1beta1", "JobSet", 19, None),
        ("kubeflow.org/v1beta2", "PyTorchJob", 19, "write kubeflow.org/v1"),
        ("kubeflow.org/v1alpha2", "MPIJob", 19, "write kubeflow.org/v2beta1"),
        ("kubeflow.org/v2beta1", "MPIJob", 19, None),
        ("ray.io/v1alpha1", "RayCluster", 19, None),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_version(api_version, kind, minor, words):
    told = fault(thing(api_version, kind), target(kueue=minor))
    assert (told is None) if words is None else (words in told)


def test_a_kind_is_recognised_by_its_version():
    assert is_of_kind(thing("batch/v2", "Jobs"))
    assert not is_of_kind(thing("batch/v2", "Job"))
    assert not is_of_kind(thing("example.com/v1", "Jobs"))
    assert not is_of_kind(thing("apps/v1beta2", "DaemonSet"))
    assert not is_of_kind(thing("scheduling.k8s.io/v1alpha1", "Workload"))


@pytest.mark.parametrize(
    ("api_version", "kind", "minor", "after"),
    [
        ("autoscaling/v2beta1", "HorizontalPodAutoscaler", 19, None),
        ("autoscaling/v2beta2", "HorizontalPodAutoscaler", 19, "autoscaling/v2"),
        ("batch/v1beta1", "CronJob", 19, "batch/v1"),
        ("rbac.authorization.k8s.io/v1beta1", "Role", 19, "rbac.authorization.k8s.io/v1"),
        ("apps/v1beta1", "Deployment", 19, None),
        ("apps/v1beta2", "Deployment", 19, "apps/v1"),
        ("kueue.x-k8s.io/v1beta2", "LocalQueue", 14, "kueue.x-k8s.io/v1beta1"),
        ("kueue.x-k8s.io/v1beta2", "ClusterQueue", 14, None),
    ],
)
def test_a_version_with_the_same_fields(api_version, kind, minor, after):
    assert successor(thing(api_version, kind), target(kueue=minor)) == after


def test_the_edits_of_every_removed_version_rewrite_the_version():
    kinds = [(it, kind) for it, kinds in removed_versions.table().items() for kind in kinds]
    text = "\n---\n".join(
        f"{{apiVersion: {it}, kind: {kind}, metadata: {{name: a}}}}" for it, kind in kinds
    )
    edits = [edit for hit in api_version_not_served.check(facts(text)) for edit in hit.edits]
    assert len(edits) > 10
    assert {edit.at.path[-1] for edit in edits} == {"apiVersion"}
