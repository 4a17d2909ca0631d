"""Differences that no update can fix."""

import pytest
from msgspec import UNSET

from policygen.drift.compare import FieldDifference
from policygen.drift.immutable import refusal


def thing(api_version, kind, **more):
    return {"apiVersion": api_version, "kind": kind, **more}


PRIORITY = thing("scheduling.k8s.io/v1", "PriorityClass", value=5)
DEPLOYMENT = thing(
    "apps/v1", "Deployment", spec={"selector": {"matchLabels": {"a": "b"}}, "replicas": 1}
)
LABELS = {"nodeLabels": {"a": "b"}}
FLAVOR = thing("kueue.x-k8s.io/v1beta2", "ResourceFlavor", spec={**LABELS, "topologyName": "t"})
LEVELS = [{"nodeLabel": "zone"}, {"nodeLabel": "rack"}]
TOPOLOGY = thing("kueue.x-k8s.io/v1beta2", "Topology", spec={"levels": LEVELS})
LOCAL_QUEUE = thing("kueue.x-k8s.io/v1beta2", "LocalQueue", spec={"clusterQueue": "a"})
CONSTANT = thing("v1", "ConfigMap", data={"a": "b: c"}, immutable=True)


@pytest.mark.parametrize(
    ("found", "path", "expected", "why"),
    [
        (PRIORITY, ("value",), 6, "value is immutable"),
        (PRIORITY, ("description",), "c", ""),
        (DEPLOYMENT, ("spec", "selector", "matchLabels", "a"), "c", "selector is immutable"),
        (DEPLOYMENT, ("spec", "replicas"), 2, ""),
        (CONSTANT, ("data", "a"), "c", "the object has immutable: true"),
        (CONSTANT, ("data", "a"), UNSET, "the object has immutable: true"),
        (CONSTANT, ("metadata", "labels", "a"), "c", ""),
        (thing("v1", "ConfigMap", data={"a": "b"}), ("data", "a"), "c", ""),
        (
            FLAVOR,
            ("spec", "nodeLabels", "a"),
            "c",
            "nodeLabels is immutable when topologyName is set",
        ),
        (FLAVOR, ("spec", "nodeTaints"), [{"key": "a", "effect": "NoSchedule"}], ""),
        (
            thing("kueue.x-k8s.io/v1beta2", "ResourceFlavor", spec=LABELS),
            ("spec", "nodeLabels", "a"),
            "c",
            "",
        ),
        (TOPOLOGY, ("spec", "levels"), LEVELS[::-1], "levels is immutable"),
        (TOPOLOGY, ("spec", "levels", 1), UNSET, "levels is immutable"),
        (TOPOLOGY, ("spec", "levels", 2), {"nodeLabel": "host"}, "levels is immutable"),
        (LOCAL_QUEUE, ("spec", "clusterQueue"), "c", "clusterQueue is immutable"),
        (LOCAL_QUEUE, ("spec", "stopPolicy"), "Hold", ""),
        (thing("example.com/v1", "Thing", spec={}), ("spec", "a"), "c", ""),
    ],
)
def test_what_a_server_refuses_to_change(found, path, expected, why):
    refused = refusal(found, FieldDifference(path, expected, UNSET, path))
    assert (refused.why if refused else "") == why


def test_a_file_inside_an_immutable_config_map():
    difference = FieldDifference(("data", "a", "b"), "d", "c", (), text=("data", "a"))
    assert refusal(CONSTANT, difference).why == "the object has immutable: true"
