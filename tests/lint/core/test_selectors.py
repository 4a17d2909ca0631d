"""Selectors of queues and workloads."""

import pytest

from policygen.kubernetes.core import LabelSelector, Requirement, requirements
from policygen.lint.core.selectors import of_pods, selectors
from tests.objects import cluster, workload


def deployment(selector, head="apiVersion: apps/v1\nkind: Deployment"):
    return f"{head}\nmetadata: {{name: d}}\nspec: {{selector: {selector}, template: {{}}}}\n"


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        ("{matchLabels: {a: b}}", LabelSelector({"a": "b"})),
        (
            "{matchExpressions: [{key: a, operator: In, values: [b]}]}",
            LabelSelector({}, (Requirement("a", "In", ("b",)),)),
        ),
        ("{matchLabels: {a: 1}}", None),
        ("{matchExpressions: [{operator: In}]}", None),
        ("{matchExpressions: [{key: a, operator: In, values: [{}]}]}", None),
        ("{matchExpressions: [{key: a, operator: In, values: bc}]}", None),
        ("{matchExpressions: [{key: [a], operator: Exists}]}", None),
        ("[]", None),
    ],
)
def test_the_selector_of_a_workload(text, selector):
    assert of_pods(workload(deployment(text))) == selector


def test_a_job_needs_no_selector():
    assert (
        of_pods(workload(deployment("{matchLabels: {a: b}}", "apiVersion: batch/v1\nkind: Job")))
        is None
    )


def test_each_selector_has_its_path():
    queue = (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\n"
        "spec: {namespaceSelector: {}}\n---\n"
    )
    found = selectors(cluster(queue + deployment("{matchLabels: {a: b}}")))
    assert [(str(it), path) for it, path, _ in found] == [
        ("ClusterQueue q", ("spec", "namespaceSelector")),
        ("Deployment d", ("spec", "selector")),
    ]


def test_requirements_of_unchecked_data():
    data = [{"key": "a", "operator": "In", "values": ["b", 1]}, 5]
    assert [(it.key, it.operator) for it in requirements(data)] == [("a", "In")]
    assert requirements(None) == ()
