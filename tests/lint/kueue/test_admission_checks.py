"""The admission checks of queues."""

import pytest

from policygen.core.finding import At
from policygen.lint.kueue.admission_checks import (
    checked,
    checks,
    flavors_of_other_nodes,
    stray_flavors,
)
from tests.objects import cluster

TEXT = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: spot, resources: [{name: cpu}]}]}]
  admissionChecksStrategy: {admissionChecks: [{name: a}, {name: b, onFlavors: [spot, sport]}]}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: none}, spec: {}}
"""


def test_only_queues_with_checks_are_checked():
    (queue,) = checked(cluster(TEXT))
    at = At(0, ("spec", "admissionChecksStrategy", "admissionChecks"))
    assert [(place, check.name) for place, check in checks(queue)] == [(at / 0, "a"), (at / 1, "b")]


def test_a_flavor_that_the_queue_does_not_have():
    (queue,) = checked(cluster(TEXT))
    ((at, check, flavor, advice),) = stray_flavors(queue)
    assert at.path[-3:] == (1, "onFlavors", 1)
    assert (check, flavor, advice) == ("b", "sport", 'did you mean "spot"?')


OTHER_NODES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: spot, resources: [{name: cpu}]}, {name: reserved, resources: [{name: cpu}]}]
  admissionChecksStrategy: {admissionChecks: [{name: a, onFlavors: [spot]}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: a}
spec: {controllerName: kueue.x-k8s.io/%s, parameters: {apiGroup: kueue.x-k8s.io, kind: K, name: p}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ProvisioningRequestConfig
metadata: {name: p}
spec: {provisioningClassName: %s.autoscaling.x-k8s.io}
"""


@pytest.mark.parametrize(
    ("controller", "class_", "found"),
    [
        ("multikueue", "check-capacity", {"spot"}),
        ("provisioning-request", "best-effort-atomic-scale-up", {"spot"}),
        ("provisioning-request", "check-capacity", set()),
    ],
)
def test_the_flavors_whose_nodes_are_elsewhere_or_come_later(controller, class_, found):
    assert flavors_of_other_nodes(cluster(OTHER_NODES % (controller, class_))) == found
