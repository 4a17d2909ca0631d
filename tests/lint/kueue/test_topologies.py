"""The levels that pods request, and those of a flavor."""

import pytest

from policygen.lint.kueue.topologies import levels, requested_levels, requests_topology
from tests.objects import cluster, workload

PREFIX = "kueue.x-k8s.io/podset-"


def template(annotations):
    pod = f"{{apiVersion: v1, kind: Pod, metadata: {{annotations: {{{annotations}}}}}, spec: {{}}}}"
    return workload(pod).templates[0]


@pytest.mark.parametrize(
    ("annotations", "found", "requests"),
    [
        ("", [], False),
        (f"{PREFIX}required-topology: rack", ["rack"], True),
        (f"{PREFIX}preferred-topology: a, {PREFIX}slice-required-topology: b", ["a", "b"], True),
        (f'{PREFIX}unconstrained-topology: "True"', [], True),
        (f'{PREFIX}unconstrained-topology: "false"', [], False),
        (f'{PREFIX}required-topology: ""', [], False),
    ],
)
def test_what_a_template_requests(annotations, found, requests):
    it = template(annotations)
    assert [level for _, level in requested_levels(it)] == found
    assert requests_topology(it) is requests


def test_the_levels_of_a_flavor():
    it = cluster("""
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: t}, spec: {levels: [{nodeLabel: a}, {nodeLabel: b}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: {topologyName: t}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: g}, spec: {topologyName: gone}}
""")
    one, other = it.flavors
    assert levels(it, one) == ("a", "b")
    assert levels(it, other) is None
