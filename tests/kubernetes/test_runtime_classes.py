"""Requirements that a RuntimeClass adds to pods."""

from policygen.kubernetes.core import TolerationView
from policygen.lint.core.pod_demands import pod_demands
from policygen.lint.core.rules.pod_fits_no_node import RULE
from tests.objects import facts

TEXT = """
apiVersion: v1
kind: Node
metadata: {name: n, labels: {runtime: runc}}
spec: {taints: [{key: sandbox, value: kata, effect: NoSchedule}]}
status: {allocatable: {cpu: 8}}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
scheduling:
  nodeSelector: {runtime: %s}
  tolerations: [{key: sandbox, operator: Equal, value: kata, effect: NoSchedule}]
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: b}
spec:
  runtimeClassName: %s
  containers: [{name: main, image: a, resources: {requests: {cpu: 1}}}]
"""


def found(runtime, name):
    given = facts(TEXT % (runtime, name))
    (it,) = pod_demands(given)
    return it.ways[0].demand, [hit.message for hit in RULE.check(given)]


def test_selector_and_tolerations_are_added():
    demand, messages = found("runc", "kata")
    assert demand.tolerations == (TolerationView("sandbox", "Equal", "kata", "NoSchedule"),)
    assert messages == []


def test_selector_that_no_node_has():
    _, messages = found("kata", "kata")
    [message] = messages
    assert message == (
        "no node takes the pods of Pod b/a: all nodes have runtime=runc, but the RuntimeClass requires kata; "
        "label the nodes, or write another runtimeClassName"
    )


def test_what_a_server_has_written_into_the_pod_is_not_added_again():
    """Its admission plugin writes the selector and the tolerations of the class into each pod."""
    written = TEXT.replace(
        "  runtimeClassName", "  nodeSelector: {runtime: kata}\n  runtimeClassName"
    )
    (it,) = pod_demands(facts(written % ("kata", "kata")))
    assert len(it.ways[0].demand.selector) == 1


def test_a_class_that_is_not_known_adds_nothing():
    demand, messages = found("kata", "other")
    assert not demand.selector
    assert len(messages) == 1
