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


def found(*teams, pool=SPEC):
    (tree,) = trees(cluster(rendered(Source("spec.yaml", pool + "".join(teams), None))))
    return weights(tree)


def test_equal_shares_have_equal_weights():
    assert found(team("one", "guarantee: 8"), team("two", "guarantee: 16")) == {"one": 1, "two": 1}


def test_shares_of_the_rest_show_the_weights():
    shown = found(team("one", "guarantee: 8, weight: 3"), team("two", "guarantee: 16"))
    assert shown["one"] / shown["two"] == 3


def test_a_team_with_child_teams_has_a_leaf_of_weight_one():
    shown = found(
        team("all", "guarantee: 16"),
        team("child", "guarantee: 8, weight: 6", ", parent: all"),
    )
    assert shown == {"all": 1, "child": 6}


MIG = SPEC.replace(
    "{perNode: 8}", "{perNode: 8, sharing: mig, mig: {instances: {1g.5gb: 70, 2g.10gb: 29}}}"
)


def test_weights_make_the_shares_of_several_profiles():
    """Of 70 and 29 instances, no weights in proportion to all instances of a team do."""
    teams = (
        team("one", "limit: {1g.5gb: 9}, weight: 7"),
        team("two", "guarantee: {2g.10gb: 11}, weight: 3"),
        team("three", "guarantee: {1g.5gb: 4}, weight: 2"),
    )
    shown = found(*teams, pool=MIG)
    text = MIG
    for name, quota in (
        ("one", "limit: {1g.5gb: 9}"),
        ("two", "guarantee: {2g.10gb: 11}"),
        ("three", "guarantee: {1g.5gb: 4}"),
    ):
        text += team(name, f"{quota}, weight: {shown[name]}")
    again = rendered(Source("spec.yaml", text, None))
    assert again == rendered(Source("spec.yaml", MIG + "".join(teams), None))


def test_no_weights_are_tried_if_none_can_make_the_shares(monkeypatch):
    """With 120 queues, all trials take half a minute."""
    monkeypatch.setattr("policygen.adopt.weights._candidates", None)
    queues = [
        f"""
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}}}
spec: {{reclaimable: false, deserved: {{nvidia.com/gpu: 3}}, capability: {{nvidia.com/gpu: 16}}}}
"""
        for name in ("one", "two")
    ]
    (tree,) = trees(cluster("---".join(queues)))
    assert weights(tree) == {}
