"""Fields that a server refuses to change."""

import pytest

from policygen.drift.immutable import is_immutable


def thing(api_version, kind, **more):
    return {"apiVersion": api_version, "kind": kind, **more}


PRIORITY = thing("scheduling.k8s.io/v1", "PriorityClass")
DEPLOYMENT = thing("apps/v1", "Deployment")
FLAVOR = thing("kueue.x-k8s.io/v1beta2", "ResourceFlavor", spec={"topologyName": "t"})


@pytest.mark.parametrize(
    ("it", "path", "frozen"),
    [
        (PRIORITY, ("value",), True),
        (PRIORITY, ("description",), False),
        (DEPLOYMENT, ("spec", "selector", "matchLabels", "a"), True),
        (DEPLOYMENT, ("spec", "replicas"), False),
        (thing("v1", "ConfigMap", immutable=True), ("data", "a"), True),
        (thing("v1", "ConfigMap", immutable=True), ("metadata", "labels", "a"), False),
        (thing("v1", "ConfigMap"), ("data", "a"), False),
        (FLAVOR, ("spec", "nodeLabels", "a"), True),
        (FLAVOR, ("spec", "nodeTaints"), False),
        (thing("kueue.x-k8s.io/v1beta2", "ResourceFlavor", spec={}), ("spec", "nodeLabels"), False),
        (thing("kueue.x-k8s.io/v1beta2", "Topology"), ("spec", "levels"), True),
        (thing("kueue.x-k8s.io/v1beta2", "LocalQueue"), ("spec", "clusterQueue"), True),
        (thing("kueue.x-k8s.io/v1beta2", "LocalQueue"), ("spec", "stopPolicy"), False),
        (thing("example.com/v1", "Thing"), ("spec",), False),
    ],
)
def test_what_a_server_refuses_to_change(it, path, frozen):
    assert is_immutable(it, path) is frozen
