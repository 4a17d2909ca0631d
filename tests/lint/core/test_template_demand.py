"""What the pods of a template require of a node."""

from policygen.lint.core.template_demand import own_demand
from tests.objects import facts

TEXT = """
apiVersion: v1
kind: LimitRange
metadata: {name: defaults, namespace: vision}
spec: {limits: [{type: Container, defaultRequest: {memory: 2Gi}}]}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: sandbox}
handler: sandbox
overhead: {podFixed: {cpu: 500m}}
scheduling: {nodeSelector: {sandbox: "yes"}}
---
apiVersion: v1
kind: Pod
metadata: {name: training, namespace: vision}
spec:
  runtimeClassName: sandbox
  containers:
  - name: main
    image: example.com/train:1
    resources: {requests: {cpu: 1, GPU!: 1}}
"""


def test_defaults_and_runtime_classes_count_and_refused_resources_do_not():
    cluster = facts(TEXT).cluster
    [pod] = cluster.workloads
    own = own_demand(cluster, pod, pod.templates[0])
    assert {name: float(it) for name, it in own.requests} == {"cpu": 1.5, "memory": 2 * 2**30}
    assert [it.requirement.key for it in own.selector] == ["sandbox"]
