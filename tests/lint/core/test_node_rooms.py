"""The room for the pods of each template."""

import pytest

from policygen.lint.core.node_rooms import node_rooms
from policygen.lint.core.rules import replicas_exceed_nodes
from tests.objects import facts

TEXT = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 96, nvidia.com/gpu: 8}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm, namespace: a}
spec:
  replicas: %s
  template:
    spec: {containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: 4}}}]}
"""


def rooms(replicas):
    return [room.pods for _, room in node_rooms(facts(TEXT % replicas))]


def test_only_templates_whose_replicas_fill_the_nodes_have_a_room():
    assert [rooms(replicas) for replicas in (0, 1, 2, 3)] == [[], [], [2], [2]]


def test_an_autoscaler_raises_the_number_of_pods_to_its_minimum():
    scaler = """---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h, namespace: a}
spec: {scaleTargetRef: {kind: Deployment, name: llm}, minReplicas: %s, maxReplicas: 9}
"""
    assert not list(replicas_exceed_nodes.check(facts(TEXT % 1 + scaler % 2)))
    [hit] = replicas_exceed_nodes.check(facts(TEXT % 1 + scaler % 3))
    assert hit.message.startswith(
        "the nodes have room for only 2 of the 3 pods of Deployment a/llm (the minimum of its "
        "autoscaler), because nvidia.com/gpu runs out"
    )


NEAR = (
    "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
    "kubernetes.io/hostname, labelSelector: {matchLabels: {app: a}}}]}}, containers"
)


def near(replicas, others=""):
    second = TEXT.partition("---")[0].replace("n1", "n2")
    text = (TEXT % replicas).replace("template:", "template:\n    metadata: {labels: {app: a}}")
    text = text.replace("containers", NEAR, 1)
    return [hit.message for hit in replicas_exceed_nodes.check(facts(f"{second}---{text}{others}"))]


def test_an_affinity_of_pods_to_themselves_keeps_them_in_one_domain():
    assert near(2) == []
    [message] = near(3)
    assert message == (
        "only 2 of the 3 pods of Deployment a/llm can run, because their affinity to themselves keeps them "
        "in one value of kubernetes.io/hostname, and no value has room for more; lower the number of "
        "pods and write maxUnavailable: 1 and maxSurge: 0, or relax the constraint"
    )
    pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: %s, labels: {app: a}}\nspec: {containers: [{name: a, image: a}]}\n"
    assert near(3, pod % "a") == []
    assert len(near(3, pod % "b")) == 1


@pytest.mark.parametrize(
    ("label", "select"),
    [
        ("", "select only nodes that can take them"),
        (", pool: gpu", "write pool: gpu in nodeSelector"),
    ],
)
def test_min_domains_above_the_nodes_that_take_pods(label, select):
    """The other nodes count as domains without pods, so a lower minDomains alone is not enough."""
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {kubernetes.io/hostname: %s%s}}\nstatus: {allocatable: {cpu: 96, nvidia.com/gpu: %s}}\n---"
    nodes = "\n".join(
        node % (name, name, *(("", 0) if name > "d" else (label, 8))) for name in "abcdef"
    )
    spread = (
        "topologySpreadConstraints: [{maxSkew: 1, minDomains: 8, topologyKey: kubernetes.io/hostname, "
        "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: a}}}], containers"
    )
    text = (TEXT % 9).partition("---")[2].replace("containers", spread, 1)
    text = text.replace("template:", "template:\n    metadata: {labels: {app: a}}")
    [hit] = replicas_exceed_nodes.check(facts(nodes + text))
    assert hit.message == (
        "only 4 of the 9 pods of Deployment a/llm can run, because minDomains is 8, but only 4 nodes can "
        "take them, and the spread constraint also counts 2 nodes that cannot take them; write minDomains: 4, "
        f"{select} and run at most 8 pods"
    )
    if label:
        followed = text.replace("minDomains: 8", "minDomains: 4").replace(
            "replicas: 9", "replicas: 8"
        )
        followed = followed.replace("spec: {topology", "spec: {nodeSelector: {pool: gpu}, topology")
        assert not list(replicas_exceed_nodes.check(facts(nodes + followed)))
