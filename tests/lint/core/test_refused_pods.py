"""Words about why no node takes a pod, as findings show them."""

import pytest

from policygen.core.names import NODE_GROUP
from policygen.kubernetes.core import Requirement
from policygen.kubernetes.node_filters import Differs, Placed
from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.workloads import PodSpec
from policygen.lint.core.refused_pods import near_label, words

NODE = """
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{{labels}}}}}
spec: {{{spec}}}
status: {{allocatable: {{cpu: 64, memory: 512Gi, {amounts}}}}}
---
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: a}
spec:
  template:
    spec:
      restartPolicy: Never
      %s
      containers:
      - {name: main, image: a, resources: {limits: {%s}}}
"""
TAINT = "taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]"
TOLERANT = "tolerations: [{key: nvidia.com/gpu, operator: Exists}]"
GPU = "nvidia.com/gpu: 8"
AFFINITY = (
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
    "{nodeSelectorTerms: [{matchExpressions: [%s]}]}}}"
)


def node(name, labels="", spec="", amounts=GPU):
    return NODE.format(name=name, labels=labels, spec=spec, amounts=amounts)


A100 = node("a100-1", "type: a100", TAINT) + node("a100-2", "type: a100", TAINT)
H100 = node("h100-1", "type: h100, gen: '9'", TAINT)
CPU = node("cpu-1", "type: cpu", "", "pods: 110")


def found(lint, text):
    report = lint(text, partial=True, only=("pod-fits-no-node",))
    return [(it.path, it.message.partition(": ")[2]) for it in report.findings]


SPEC = "spec.template.spec"


@pytest.mark.parametrize(
    ("nodes", "fields", "limits", "path", "message"),
    [
        (
            A100 + H100 + CPU,
            f"nodeSelector: {{type: A100}}\n      {TOLERANT}",
            GPU,
            f"{SPEC}.nodeSelector.type",
            "the nearest nodes (2) have type=a100, not A100; write a100 in nodeSelector, or label the nodes",
        ),
        (
            A100 + CPU,
            "nodeSelector: {type: a100}",
            GPU,
            f"{SPEC}.tolerations",
            ("the nearest nodes (2) have taint nvidia.com/gpu=present:NoSchedule, which the pods do not "
            "tolerate; add a toleration for this taint"),
        ),
        (
            A100 + CPU,
            TOLERANT,
            "nvidia.com/gpu: 16",
            f'{SPEC}.containers[0].resources.limits["nvidia.com/gpu"]',
            ("the nearest nodes (2) have at most 8 nvidia.com/gpu, but a pod requests 16; use more pods "
            "with at most 8 nvidia.com/gpu each"),
        ),
        (
            A100,
            f"{TOLERANT}\n      initContainers: [{{name: warm, image: a, resources: {{limits: {{nvidia.com/gpu: 12}}}}}}]",
            "nvidia.com/gpu: 16",
            f'{SPEC}.containers[0].resources.limits["nvidia.com/gpu"]',
            ("all nodes have at most 8 nvidia.com/gpu, but a pod requests 16 (also in init container warm); "
            "use more pods with at most 8 nvidia.com/gpu each"),
        ),
        (
            A100,
            TOLERANT,
            f"{GPU}, memory: 1Ti",
            f"{SPEC}.containers[0].resources.limits.memory",
            ("all nodes have at most 512 GiB of memory, but a pod requests 1 TiB; request at most 512 GiB of "
            "memory, or add larger nodes"),
        ),
        (
            A100,
            TOLERANT,
            "nvidia.com/mig-1g.10gb: 1",
            f'{SPEC}.containers[0].resources.limits["nvidia.com/mig-1g.10gb"]',
            'all nodes lack nvidia.com/mig-1g.10gb; did you mean "nvidia.com/gpu"?',
        ),
        (
            A100 + H100,
            f"{TOLERANT}\n      {AFFINITY % '{key: gen, operator: Gt, values: [9]}'}".replace("[9]", "['9']"),
            GPU,
            (f"{SPEC}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            ".nodeSelectorTerms[0].matchExpressions[0]"),
            ("the nearest nodes (h100-1) have gen=9, which is not above 9; change gen in nodeAffinity, or "
            "label the nodes"),
        ),
        (
            A100 + H100,
            f"{TOLERANT}\n      {AFFINITY % '{key: type, operator: In, values: [mi300]}'}",
            GPU,
            (f"{SPEC}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            ".nodeSelectorTerms[0].matchExpressions[0]"),
            ("the nearest nodes (2) have type=a100, not mi300; write a100 or h100 (or both) in nodeAffinity, or "
            "label the nodes"),
        ),
        (
            A100 + CPU,
            f"nodeSelector: {{type: cpu}}\n      {TOLERANT}",
            GPU,
            f"{SPEC}.nodeSelector.type",
            "the nearest nodes (2) have type=a100, not cpu; write a100 in nodeSelector, or label the nodes",
        ),
        (
            node("gpu-1", "", "unschedulable: true"),
            "",
            GPU,
            SPEC,
            "all nodes are cordoned; uncordon the nodes",
        ),
        (
            node("gpu-1"),
            "nodeName: gpu-2",
            GPU,
            f"{SPEC}.nodeName",
            'all nodes have other names than gpu-2; did you mean "gpu-1"?',
        ),
        (
            A100 + node("h100-1", "type: h100", TAINT, "nvidia.com/gpu: 0"),
            f"nodeSelector: {{type: h100}}\n      {TOLERANT}",
            GPU,
            f'{SPEC}.containers[0].resources.limits["nvidia.com/gpu"]',
            ("the nearest nodes (h100-1) lack nvidia.com/gpu; select nodes that offer nvidia.com/gpu, or find out why "
            "nodes list nvidia.com/gpu with 0, for example in their device plugin"),
        ),
        (
            node("gpu-1", amounts="nvidia.com/gpu: 8, pods: 0"),
            "",
            GPU,
            f"{SPEC}.containers",
            "all nodes have room for 0 pods; raise maxPods of the kubelet",
        ),
        (
            node("gpu-1").replace("512Gi", '"536870912"'),
            "",
            f"{GPU}, memory: 64Gi",
            f"{SPEC}.containers[0].resources.limits.memory",
            ("all nodes have at most 512 MiB of memory, but a pod requests 64 GiB; correct the unit in "
            "status.allocatable.memory of the nodes, such as Ki"),
        ),
        (
            node("gpu-1"),
            ("topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, "
            "labelSelector: {}}]"),
            GPU,
            f"{SPEC}.topologySpreadConstraints[0].topologyKey",
            ("all nodes lack label rack, which topologySpreadConstraints needs; label the nodes, or "
            "write another topologyKey"),
        ),
    ],
)  # fmt: skip
def test_the_nearest_nodes_are_named(lint, nodes, fields, limits, path, message):
    assert found(lint, nodes + JOB % (fields, limits)) == [(path, message)]


def test_pods_that_one_node_takes_are_not_reported(lint):
    assert found(lint, A100 + H100 + CPU + JOB % (TOLERANT, GPU)) == []
    assert found(lint, A100 + CPU + JOB % ("nodeSelector: {type: cpu}", "cpu: 8")) == []


def test_the_place_is_the_container_with_the_largest_request(lint):
    init = "initContainers: [{name: load, image: a, resources: {requests: {memory: 600Gi}}}]"
    (path, _), *_ = found(lint, node("gpu-1") + JOB % (init, f"{GPU}, memory: 64Gi"))
    assert path == f"{SPEC}.initContainers[0].resources.requests.memory"


def test_a_former_label_has_its_new_name():
    labels = {"topology.kubernetes.io/zone": "a"}
    nodes = [Node("n", labels)]
    assert near_label("failure-domain.beta.kubernetes.io/zone", nodes) == next(iter(labels))
    assert near_label("failure-domain.beta.kubernetes.io/region", nodes) == ""
    assert near_label("topology.kubernetes.io/zone", nodes) == ""


@pytest.mark.parametrize(
    ("groups", "value", "selector", "path", "fact", "advice"),
    [
        (
            ("a",), "b", {"pool": "h100"}, ("nodeSelector", "pool"),
            f"have {NODE_GROUP}=b, but the Queue only has an affinity to node group a",
            "write pool: a100 in nodeSelector, or add b to nodeGroupAffinity of the Queue",
        ),
        (
            ("a", "c"), None, {"zone": "1"}, (),
            f"lack label {NODE_GROUP}, but the Queue only has an affinity to node groups a and c",
            f"label the nodes {NODE_GROUP}=a or c",
        ),
        (
            (), "b", {}, (),
            f"have {NODE_GROUP}=b, but the Queue has no affinity to a node group",
            "add b to nodeGroupAffinity of the Queue",
        ),
    ],
)  # fmt: skip
def test_nodes_outside_the_groups_of_a_queue(groups, value, selector, path, fact, advice):
    nodes = [
        Node(name, labels={NODE_GROUP: group, "pool": pool})
        for name, group, pool in (("n1", "a", "a100"), ("n2", "b", "h100"))
    ]
    miss = Differs(Placed((), Requirement(NODE_GROUP, "In", groups)), value)
    assert words(miss, PodSpec(node_selector=selector), nodes) == (path, fact, advice)
