"""How many pods of a template run at once. tests/servers/test_node_domains.py asks kube-scheduler."""

from fractions import Fraction

import pytest
import yaml

from policygen.kubernetes.core import TaintView
from policygen.kubernetes.node_domains import EqualPods, room
from policygen.kubernetes.node_filters import demand
from policygen.kubernetes.node_groups import Node, NodeSet, Stated
from policygen.kubernetes.node_index import NodeIndex
from tests.objects import workload

GPU = "nvidia.com/gpu"
HOST = "kubernetes.io/hostname"
POD = """
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {app: a}}
spec:
  containers: [{name: main, image: a, resources: {limits: {nvidia.com/gpu: 4}}}]
"""
APART = """
affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
  {topologyKey: %s, labelSelector: {matchLabels: {app: %s}}%s}]}}
"""
SPREAD = """
topologySpreadConstraints:
- {maxSkew: %s, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: a}}%s}
"""
TAINT = (TaintView("gpu", "NoSchedule"),)


def node(name, zone=None, gpus=8, **more):
    labels = {HOST: name} | ({"zone": zone} if zone else {})
    return Node(name, labels, allocatable={GPU: Fraction(gpus)}, **more)


def found(fields, nodes, enough=100):
    data = yaml.safe_load(POD)
    data["spec"] |= yaml.safe_load(fields) or {}
    (template,) = workload(yaml.safe_dump(data)).templates
    it = demand(template.spec, template.spec.requests)
    pods = EqualPods(template.spec, template.labels, it)
    return room(pods, NodeIndex(NodeSet(nodes)), enough)


PORT = """
containers:
- {name: main, image: a, resources: {limits: {nvidia.com/gpu: 4}}, ports: [{containerPort: 80, %s}]}
"""


def pool(name, count, gpus=8):
    return Node(
        name, {"pool": name}, allocatable={GPU: Fraction(gpus)}, count=count, stated=Stated.PART
    )


EIGHT = {GPU: Fraction(8)}
SPREAD_HOST = SPREAD.replace("zone", HOST) % ("%s", "")
POOL = [pool("pool", 5)]
THREE = [node("n1", "a"), node("n2", "a"), node("n3", "b")]


@pytest.mark.parametrize(
    ("fields", "nodes", "pods"),
    [
        ("", THREE, 6),
        ("", [*THREE, node("n4", "b", 3)], 6),
        ("", [node("pool", count=5)], 10),
        ("", [node("pool", count=5, stated=Stated.PART, together={GPU: Fraction(15)})], 3),
        ("", [node("pool", count=5, stated=Stated.PART, together={"other": Fraction(1)})], 10),
        (APART % (HOST, "a", ""), THREE, 3),
        (APART % ("zone", "a", ""), THREE, 2),
        (APART % (HOST, "a", ""), [*THREE, node("n4", "c", 2)], 3),
        (APART % ("zone", "a", ""), [*THREE, node("n4")], 4),
        (APART % ("zone", "other", ""), THREE, 6),
        (APART % ("zone", "a", ", namespaces: [b]"), THREE, 6),
        (SPREAD % (1, ""), THREE, 5),
        (SPREAD % (2, ""), THREE, 6),
        (SPREAD % (1, ", minDomains: 3"), THREE, 2),
        (SPREAD % (1, ""), [*THREE, node("n4", "c", taints=TAINT)], 2),
        (SPREAD % (1, ", nodeTaintsPolicy: Honor"), [*THREE, node("n4", "c", taints=TAINT)], 5),
        (SPREAD % (1, "") + "nodeSelector: {zone: a}", THREE, 4),
        (SPREAD % (1, ", nodeAffinityPolicy: Ignore") + "nodeSelector: {zone: a}", THREE, 1),
        (SPREAD % (1, ""), [*THREE, node("n4", "c", 2)], 2),
        (APART % (HOST, "a", ""), POOL, 5),
        (APART % (HOST, "a", ""), [*POOL, *THREE], 8),
        (APART % (HOST, "a", ""), [*POOL, pool("small", 2, 3)], 5),
        (APART % ("zone", "a", ""), POOL, 10),
        (APART % ("pool", "a", ""), POOL, 1),
        (APART % (HOST, "a", ""), [Node("n1", {}, allocatable=EIGHT)] * 2, 4),
        (
            APART % (HOST, "a", ""),
            [Node("n1", {}, allocatable=EIGHT, stated=Stated.WRITTEN)] * 2,
            2,
        ),
        (SPREAD_HOST % 1, [*POOL, pool("large", 1, 16)], 13),
        (SPREAD_HOST % 1, [*POOL, pool("small", 2, 3)], 5),
        (SPREAD_HOST % 1 + "nodeSelector: {pool: small}", [*POOL, pool("small", 2, 4)], 2),
        (SPREAD % (1, ""), POOL, 10),
        (PORT % "hostPort: 80", THREE, 3),
        (PORT % "hostPort: 80, hostIP: 10.0.0.1", THREE, 6),
        (PORT % "protocol: UDP", THREE, 6),
        ("hostNetwork: true" + PORT % "protocol: UDP", THREE, 3),
    ],
)
def test_the_room_for_pods(fields, nodes, pods):
    assert found(fields, nodes).pods == pods


def test_the_constraint_that_bounds_the_pods_is_named():
    closed = found(SPREAD % (1, ""), [*THREE, node("n4", "c", taints=TAINT)])
    assert (closed.path, closed.key) == (("topologySpreadConstraints", 0), "zone")
    assert (closed.domains, closed.closed, closed.nodes) == (2, 1, 3)
    assert found("", THREE).path == ()


def test_room_that_is_enough_or_unknown_is_not_reported():
    assert found("", THREE, enough=6) is None
    assert found(SPREAD % (1, ""), THREE, enough=2) is None
    assert found("containers: [{name: a, image: a, resources: {limits: {cpu: 1}}}]", THREE) is None


def test_unknown_domains_do_not_bound_pods():
    written = [node("n1", stated=Stated.WRITTEN), node("n2", stated=Stated.WRITTEN)]
    assert (
        found((SPREAD % (1, "")).replace("zone", "topology.kubernetes.io/zone"), written).pods == 4
    )
