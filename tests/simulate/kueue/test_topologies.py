"""Topologies of flavors from objects."""

from policygen.kubernetes.kueue_workloads import TopologyRequestView
from policygen.kubernetes.listed_nodes import listed_nodes
from policygen.simulate.kueue.build import state_of
from policygen.simulate.kueue.topologies import add_topologies, topology_request
from policygen.simulate.kueue.topology import TopologyRequest
from tests.objects import cluster

OBJECTS = """
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: t}, spec: {levels: [{nodeLabel: rack}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: {topologyName: t, nodeLabels: {gpu: h}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: c}, spec: {
 resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 1}]}]}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {gpu: h, rack: a}}, status: {allocatable: {cpu: 2}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {gpu: h, rack: a}}, status: {allocatable: {cpu: 3}}}
---
{apiVersion: v1, kind: Node, metadata: {name: other, labels: {rack: a}}, status: {allocatable: {cpu: 9}}}
---
{apiVersion: v1, kind: Node, metadata: {name: cordoned, labels: {gpu: h, rack: a}}, spec: {unschedulable: true}}
"""


def test_a_flavor_has_the_domains_of_its_nodes():
    """A rack has what its nodes have together, less what other pods use."""
    objects = cluster(OBJECTS)
    state = state_of(objects)
    add_topologies(state, objects, listed_nodes(objects), {"n1": {"cpu": 500}})
    (rack,) = state.topologies["f"].domains(0)
    assert (rack.values, rack.free) == (("a",), {"cpu": 4500})
    assert state.queues["c"].tas_only


def test_requests():
    assert topology_request(None) is None
    assert topology_request(TopologyRequestView()) is None
    assert topology_request(TopologyRequestView(required="rack")) == TopologyRequest(
        "rack", required=True
    )
    slices = TopologyRequestView(pod_set_slice_required_topology="rack", pod_set_slice_size=2)
    assert topology_request(slices) == TopologyRequest(
        unconstrained=True, slice_level="rack", slice_size=2
    )
