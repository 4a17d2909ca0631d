"""All containers of a pod, with their paths."""

from fractions import Fraction

from policygen.core.finding import At
from policygen.lint.core.containers import amounts, containers, having
from tests.objects import cluster


def test_init_containers_are_some_too():
    it = cluster("""
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: n}
spec: {template: {spec: {containers: [{name: a}, {name: b}], initContainers: [{name: c}]}}}
""")
    spec = At(0, ("spec", "template", "spec"))
    assert [(str(each), each.at) for each in containers(it)] == [
        ("container a of Job n/j", spec.to("containers", 0)),
        ("container b of Job n/j", spec.to("containers", 1)),
        ("container c of Job n/j", spec.to("initContainers", 0)),
    ]


def test_equal_amounts_of_containers_are_listed_once():
    it = cluster("""
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: n}
spec:
  containers:
    - {name: a, resources: {requests: {cpu: 500m}, limits: {cpu: "2", nvidia.com/gpu: 1}}}
    - {name: b, resources: {requests: {cpu: 500m}, limits: {cpu: "2"}}}
""")
    assert amounts(it) == {
        "cpu": [(2, [0, 1]), (Fraction(1, 2), [0, 1])],
        "nvidia.com/gpu": [(1, [0])],
    }
    assert [each.container.name for each in having(it, ("nvidia.com/gpu",), bool)] == ["a"]
