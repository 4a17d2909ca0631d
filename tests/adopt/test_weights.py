"""Weights of Volcano's teams from what their queues deserve."""

from policygen.adopt.volcano import trees
from policygen.adopt.weights import weights
from policygen.documents.files import Source
from tests.adopt.round_trip import cluster, rendered

SPEC = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: a100}
spec:
  nodeSelector: {a: b}
  gpu: {perNode: 8}
  capacity: {nodes: 8, nodeAllocatable: {cpu: 96, memory: 768Gi}}
  scheduler: volcano
  schedulingPolicy: {preemptionEnabled: false}
"""


def team(name, quota, parent=""):
    return f"""---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {{name: {name}}}
spec: {{namespaces: [{{name: {name}}}], quotas: [{{pool: a100, {quota}}}]{parent}}}
"""


def found(*teams):
    (tree,) = trees(cluster(rendered(Source("spec.yaml", SPEC + "".join(teams), None))))
    return weights(tree)


def test_equal_shares_have_no_weight():
    assert found(team("one", "guarantee: 8"), team("two", "guarantee: 16")) == {}


def test_shares_of_the_rest_show_the_weights():
    shown = found(team("one", "guarantee: 8, weight: 3"), team("two", "guarantee: 16"))
    assert shown["one"] / shown.get("two", 1) == 3


def test_a_team_with_child_teams_has_a_leaf_of_weight_one():
    shown = found(
        team("all", "guarantee: 16"),
        team("child", "guarantee: 8, weight: 6", ", parent: all"),
    )
    assert shown == {"child": 6}
