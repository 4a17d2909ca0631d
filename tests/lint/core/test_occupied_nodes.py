"""Pods that run on every node; tests/servers/proofs/test_core_affinities.py asks kube-scheduler."""

import pytest

from policygen.lint.core.occupied_nodes import repelled
from tests.objects import facts

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
NODE = """
apiVersion: v1
kind: Node
metadata: {name: %s, uid: u, labels: {pool: %s, kubernetes.io/hostname: %s, topology.kubernetes.io/zone: z}}
spec: {taints: [%s]}
status: {allocatable: {cpu: 8, memory: 8Gi, pods: 10}}
"""
WORK = """
apiVersion: apps/v1
kind: %s
metadata: {name: %s, namespace: n}
spec: {replicas: %s, template: {metadata: {labels: {app: %s}}, spec: {%s containers: [{name: m, image: a}]}}}
"""
CLASS = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 9
"""
TAINT = "{key: gpu, effect: NoSchedule}"
TOLERATES = "tolerations: [{operator: Exists}],"


def node(name, pool="a", taint=""):
    return NODE % (name, pool, name, taint)


def apart(app, key=HOST):
    return (
        "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        f"[{{topologyKey: {key}, labelSelector: {{matchLabels: {{app: {app}}}}}}}]}}}},"
    )


def work(name, fields="", replicas=1, kind="Deployment"):
    return WORK % (kind, name, replicas, name, fields)


def agent(fields=""):
    return work("agent", fields, kind="DaemonSet")


def found(*texts):
    return [
        (it.it.workload.name, [each.pods.workload.name for each in it.occupants], it.nodes)
        for it in repelled(facts("---".join(texts)))
    ]


NODES = node("one"), node("two")
HIT = [("server", ["agent"], 2)]


def test_a_daemon_set_runs_on_every_node():
    assert found(*NODES, agent(), work("server", apart("agent"))) == HIT
    assert found(*NODES, agent(apart("server")), work("server")) == HIT
    assert found(*NODES, agent(), work("server", apart("other"))) == []


@pytest.mark.parametrize("fields", ["nodeSelector: {pool: b},", "nodeSelector: {unknown: x},"])
def test_it_does_not_run_on_other_nodes(fields):
    assert found(*NODES, agent(fields), work("server", apart("agent"))) == []


def test_a_taint_keeps_it_away():
    nodes = node("one"), node("two", taint=TAINT)
    server = work("server", apart("agent") + TOLERATES)
    assert found(*nodes, agent(), server) == []
    assert found(*nodes, agent(TOLERATES), server) == HIT


def test_one_pod_excludes_its_zone():
    pods = agent("nodeSelector: {pool: b},"), work("server", apart("agent", ZONE))
    assert found(*NODES, node("three", "b"), *pods) == [("server", ["agent"], 3)]


def test_pods_that_may_preempt_the_others_are_not_reported():
    server = work("server", f"{apart('agent')} priorityClassName: high,")
    assert found(*NODES, agent(), server, CLASS) == []
    unknown = work("server", f"{apart('agent')} priorityClassName: other,")
    assert found(*NODES, agent(), unknown) == []


def test_a_workload_that_repels_its_pods_fills_as_many_nodes_as_it_has_pods():
    server = work("server", apart("cache"))
    assert found(*NODES, work("cache", apart("cache"), 2), server) == [("server", ["cache"], 2)]
    assert found(*NODES, work("cache", apart("cache"), 1), server) == []
    assert found(*NODES, work("cache", replicas=2), server) == []


def test_two_that_repel_each_other_are_reported_once():
    one, two = work("one", apart("one") + "", 2), work("two", apart("one"), 2)
    assert found(*NODES, one, two) == [("two", ["one"], 2)]
