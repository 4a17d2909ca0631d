"""Templates of a gang whose pods repel each other."""

import pytest

from policygen.lint.core.gang_domains import scattered_gangs
from tests.objects import facts

NODES = "".join(
    f"""---
apiVersion: v1
kind: Node
metadata: {{name: n{i}, labels: {{kubernetes.io/hostname: n{i}, rack: r{i % 2}}}}}
status: {{allocatable: {{cpu: 96, nvidia.com/gpu: 8}}}}
"""
    for i in range(4)
)


def task(name, replicas, *, app="a", selects="a", key="kubernetes.io/hostname", term=""):
    selector = f"labelSelector: {{matchLabels: {{app: {selects}}}}}{term}"
    affinity = (
        f"affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: "
        f"[{{topologyKey: {key}, {selector}}}]}}}}, "
        if selects
        else ""
    )
    return f"""  - name: {name}
    replicas: {replicas}
    template:
      metadata: {{labels: {{app: {app}}}}}
      spec: {{{affinity}containers: [{{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}
"""


def gang(least, *tasks):
    return f"""---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: j, namespace: a}}
spec:
  schedulerName: volcano
  minAvailable: {least}
  tasks:
{"".join(tasks)}"""


def found(*tasks, least=5):
    hits = scattered_gangs(facts(NODES + gang(least, *tasks)))
    return [(it.pods, it.key, it.domains) for it in hits]


def test_all_tasks_that_repel_each_other_count_together():
    assert found(task("x", 3), task("y", 2)) == [(5, "kubernetes.io/hostname", 4)]
    assert found(task("x", 2), task("y", 2), least=4) == []
    assert found(task("x", 2), task("y", 2), task("z", 1)) == [(5, "kubernetes.io/hostname", 4)]


def test_the_values_of_another_label_count():
    racks = [task(name, 2 - i, key="rack") for i, name in enumerate("xy")]
    assert found(*racks, least=3) == [(3, "rack", 2)]


def test_one_direction_is_enough():
    # Pods of y have no term. Those of x, of which there are 4 on 4 nodes, keep the only one of y away.
    assert found(task("x", 4), task("y", 1, selects="")) == [(5, "kubernetes.io/hostname", 4)]


@pytest.mark.parametrize(
    "other",
    [
        task("y", 2, app="b"),  # x does not select them
        task("y", 2, selects="") + "      policies: []\n",  # pods of y can share a node
        task("y", 2, app="b", selects="b"),
        task("y", 2, app="b", selects="b", key="rack"),
    ],
)
def test_tasks_that_do_not_repel_each_other_are_separate(other):
    assert found(task("x", 3), other) == []


@pytest.mark.parametrize("term", [", namespaces: [b]", ", matchLabelKeys: [z]"])
def test_terms_about_other_pods_are_not_counted(term):
    assert found(task("x", 3, term=term), task("y", 2, term=term)) == []


def test_pods_that_need_not_start_together_are_not_counted():
    assert found(task("x", 3), task("y", 2), least=3) == []


def test_nodes_outside_all_domains_take_any_number():
    other = "---\napiVersion: v1\nkind: Node\nmetadata: {name: o, labels: {}}\nstatus: {allocatable: {cpu: 96, nvidia.com/gpu: 8}}\n"
    tasks = [task(name, 2, key="rack") for name in "xy"]
    assert not scattered_gangs(facts(NODES + other + gang(4, *tasks)))
