"""Messages that point to what nearly matches: a toleration, a label of a namespace."""

import pytest

from policygen.lint.kueue.rules import namespace_not_selected, node_taint_not_tolerated
from tests.objects import facts

FLAVOR = """
apiVersion: v1
kind: Node
metadata: {{name: n1, labels: {{pool: gpu}}}}
spec: {{taints: [{{key: nvidia.com/gpu, value: present, effect: NoSchedule}}]}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: gpu}}
spec: {{nodeLabels: {{pool: gpu}}, tolerations: [{{key: a, operator: Exists}}, {{{}}}]}}
"""
TAINT = "all nodes of ResourceFlavor gpu have taint nvidia.com/gpu=present:NoSchedule, but the toleration for this key"


@pytest.mark.parametrize(
    ("toleration", "field", "value", "at"),
    [
        ('key: nvidia.com/gpu, value: "true"', "value", "present", ("value",)),
        ("key: nvidia.com/gpu", "value", "present", ()),
        (
            "key: nvidia.com/gpu, operator: Exists, effect: NoExecute",
            "effect",
            "NoSchedule",
            ("effect",),
        ),
    ],
)
def test_a_toleration_that_differs_in_one_field_is_named(toleration, field, value, at):
    [hit] = node_taint_not_tolerated.check(facts(FLAVOR.format(toleration)))
    assert hit.message == f"{TAINT} in the flavor has another {field}; write {field}: {value}"
    assert hit.at.path == ("spec", "tolerations", 1, *at)


@pytest.mark.parametrize(
    "toleration",
    ["key: nvidia.com/mig, operator: Exists", "key: nvidia.com/gpu, value: a, effect: NoExecute"],
)
def test_other_tolerations_are_not_meant(toleration):
    [hit] = node_taint_not_tolerated.check(facts(FLAVOR.format(toleration)))
    assert "neither lists nor tolerates" in hit.message


def test_a_toleration_with_a_misspelt_key_is_named():
    [hit] = node_taint_not_tolerated.check(
        facts(FLAVOR.format("key: nvidia.com/gpus, operator: Exists"))
    )
    end = 'the toleration of the flavor has key "nvidia.com/gpus"; write key: nvidia.com/gpu'
    assert hit.message.endswith(end)
    assert hit.at.path == ("spec", "tolerations", 1, "key")


QUEUE = """
apiVersion: v1
kind: Namespace
metadata: {{name: folding, labels: {{team: structure}}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: q}}
spec: {{namespaceSelector: {{{}}}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: gpu, namespace: folding}}
spec: {{clusterQueue: q}}
"""
SIMILAR = 'did you mean "structure" in namespaceSelector?'
ADD = "add the namespace to namespaceSelector, or label the namespace"


@pytest.mark.parametrize(
    ("selector", "fact", "advice", "path"),
    [
        (
            "matchExpressions: [{key: team, operator: In, values: [Structure]}]",
            ' (namespaceSelector requires team: Structure, but the label is "structure")',
            SIMILAR,
            ("matchExpressions", 0, "values"),
        ),
        (
            "matchLabels: {team: vision}",
            ' (namespaceSelector requires team: vision, but the label is "structure")',
            ADD,
            ("matchLabels", "team"),
        ),
        (
            "matchLabels: {gpu: a}",
            " (namespaceSelector requires gpu: a, but the namespace lacks this label)",
            ADD,
            ("matchLabels", "gpu"),
        ),
        ("matchLabels: {kubernetes.io/metadata.name: a}", "", ADD, ()),
    ],
)
def test_the_label_that_the_selector_requires_is_named(selector, fact, advice, path):
    [hit] = namespace_not_selected.check(facts(QUEUE.format(selector)))
    assert f"does not select{fact}, so its workloads are never admitted; {advice}" in hit.message
    assert hit.related[0].path == ("spec", "namespaceSelector", *path)
