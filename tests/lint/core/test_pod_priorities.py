"""Fields of a pod that the API server computes from its PriorityClass."""

import pytest

from policygen.lint.core.pod_priorities import conflicts
from policygen.lint.core.pod_templates import pod_specs
from tests.objects import facts

POD = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: training}
value: 1000
preemptionPolicy: Never
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: vision}
spec: {%s, containers: [{name: main, image: example.com/a:1}]}
"""


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ("priorityClassName: training, priority: 1000, preemptionPolicy: Never", []),
        ("priorityClassName: other, priority: 5", []),  # the class may exist elsewhere
        ("priority: 0", []),
        ("priority: 5", ["priority"]),
        (
            "priorityClassName: training, priority: 0, preemptionPolicy: PreemptLowerPriority",
            ["preemptionPolicy", "priority"],
        ),
    ],
)
def test_values_that_differ_from_the_class_are_named(fields, found):
    cluster = facts(POD % fields).cluster
    (spec,) = pod_specs(cluster)
    assert [at.path[-1] for at, _ in conflicts(cluster, spec)] == found
