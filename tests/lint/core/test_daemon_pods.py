"""What DaemonSets leave of nodes."""

import pytest

from policygen.lint.core.known_nodes import empty_nodes, known_nodes, node_index
from policygen.lint.core.near_nodes import nearest_nodes
from policygen.lint.core.pod_demands import pod_demands
from policygen.lint.kueue.never_started import never_started
from tests.objects import DAEMON_SET, facts

NODES = """
apiVersion: v1
kind: Node
metadata: {name: a, uid: a, labels: {pool: a100}}
spec: {unschedulable: true, taints: [{key: gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: 8, memory: 8Gi, pods: 10, nvidia.com/gpu: 4}}
---
apiVersion: v1
kind: Node
metadata: {name: b, uid: b}
status: {allocatable: {cpu: 8, memory: 8Gi, pods: 10}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
"""
PORT = "ports: [{containerPort: 9100, hostPort: 9100}]"
DAEMON = DAEMON_SET.replace("resources:", f"{PORT}\n        resources:")
JOB = """
---
apiVersion: batch/v1
kind: Job
metadata: {name: training, namespace: vision}
spec:
  template:
    spec:
      restartPolicy: Never
      priorityClassName: %s
      containers: [{name: main, image: example.com/train:1, resources: {limits: {cpu: 6}}}]
"""


def left(text):
    return {it.name: int(it.allocatable["cpu"]) for it in known_nodes(facts(NODES + text)).all}


@pytest.mark.parametrize(
    ("fields", "cpu"),
    [
        ("tolerations: [{operator: Exists}]", {"a": 5, "b": 5}),
        ("tolerations: []", {"a": 8, "b": 5}),
        ("nodeSelector: {pool: a100}", {"a": 8, "b": 8}),
        (
            "tolerations: [{key: gpu, operator: Exists}]\n      nodeSelector: {pool: a100}",
            {"a": 5, "b": 8},
        ),
    ],
)
def test_a_pod_runs_on_each_node_that_takes_it_also_if_it_is_cordoned(fields, cpu):
    assert left(DAEMON % fields) == cpu


def test_several_daemons_leave_what_all_of_them_do_not_use():
    text = DAEMON % "tolerations: [{operator: Exists}]"
    given = facts(NODES + text + text.replace("agent", "logs").replace("cpu: 3", "cpu: 7"))
    (node, _) = known_nodes(given).all
    assert (node.allocatable["cpu"], node.allocatable["pods"]) == (0, 8)
    assert node.daemons["cpu"] == ("DaemonSet monitoring/agent", "DaemonSet monitoring/logs")
    assert empty_nodes(given).all[0].allocatable["cpu"] == 8


@pytest.mark.parametrize(
    ("daemon", "job", "has_room"),
    [
        ("", "''", False),
        ("", "high", True),  # its pods evict those of the DaemonSet
        ("high", "high", False),
        ("high", "unknown", True),
        ("system-node-critical", "unknown", False),
        ("system-node-critical", "high", False),
        ("", "system-cluster-critical", True),
    ],
)
def test_pods_that_a_pod_can_evict_do_not_count_for_it(daemon, job, has_room):
    text = DAEMON % f"priorityClassName: {daemon or repr('')}" + JOB % job
    other = JOB.replace("training", "other").replace("cpu: 6", "cpu: 1") % "high"
    for given in (facts(NODES + text), facts(NODES + text + other)):
        [own] = [it for it in given.derive(pod_demands) if it.workload.name == "training"]
        assert bool(given.derive(node_index).takers(own.ways[0].demand)) == has_room
        near = given.derive(nearest_nodes).of(own)
        assert (near is None) == has_room


def test_a_host_port_of_a_daemon_is_taken():
    (node, _) = known_nodes(facts(NODES + DAEMON % "tolerations: [{operator: Exists}]")).all
    assert node.allocatable["host port 9100"] == 0


QUEUE = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: small}
spec: {nodeLabels: {pool: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: large}
spec: {nodeLabels: {pool: large}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - {name: small, resources: [{name: cpu, nominalQuota: 8}]}
    - {name: large, resources: [{name: cpu, nominalQuota: 64}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: vision}
spec: {clusterQueue: vision}
---
apiVersion: v1
kind: Node
metadata: {name: c, uid: c, labels: {pool: large}}
status: {allocatable: {cpu: 64, memory: 8Gi, pods: 10}}
"""


@pytest.mark.parametrize(("cpu", "found"), [(3, ["small"]), (2, [])])
def test_kueue_admits_into_a_flavor_of_which_a_daemon_uses_the_rest(cpu, found):
    nodes = NODES.replace(
        "spec: {unschedulable: true, taints: [{key: gpu, effect: NoSchedule}]}\n", ""
    )
    daemon = DAEMON.replace("cpu: 3", f"cpu: {cpu}") % "nodeSelector: {pool: a100}"
    job = (JOB % "''").replace(
        "name: training,", "name: training, labels: {kueue.x-k8s.io/queue-name: main},"
    )
    given = facts(nodes + QUEUE + daemon + job)
    assert [it.cause.names[0] for it in never_started(given)] == found
