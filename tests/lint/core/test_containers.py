"""All containers of a pod, with their paths."""

from policygen.core.finding import At
from policygen.lint.core.containers import containers
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
