"""Rests of cpu and memory that rounding leaves in trees of Volcano."""

import pytest

from policygen.documents.files import Source
from tests.adopt.round_trip import again, rendered

POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: v}
spec:
  nodeSelector: {pool: v}
  gpu: {memory: 80Gi, perNode: 10}
  capacity: {nodes: 1, nodeAllocatable: {cpu: 10007m, memory: 10247Mi}}
  scheduler: volcano
"""


def team(name, parent=None, *, works=True, cpu=""):
    return f"""---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {{name: {name}}}
spec:
  {f"parent: {parent}" if parent else ""}
  namespaces: [{f"{{name: {name}}}" if works else ""}]
  quotas: [{{pool: v, guarantee: 0{cpu and f", cpu: {{limit: {cpu}}}"}}}]
"""


TREES = {
    "own queue beside child teams": team("lab") + team("a", "lab") + team("b", "lab"),
    "below a team without an own queue": (
        team("lab", works=False) + team("a", "lab") + team("b", "a") + team("c", "a")
    ),
    "on two levels": team("lab") + team("a", "lab") + team("b", "a") + team("c", "a"),
    "that a limit of cpu leaves": team("lab") + team("a", "lab", cpu="1m") + team("b", "lab"),
    "that is no multiple of 1Mi": (
        team("lab")
        + team("a", "lab").replace("guarantee: 0", "guarantee: 0, memory: {limit: 1500M}")
    ),
    "below a team with a limit": team("lab", cpu="5001m") + team("a", "lab") + team("b", "a"),
    "beside a team with child teams": team("lab") + team("a", "lab", works=False) + team("b", "a"),
}


@pytest.mark.parametrize("name", TREES)
def test_a_rest_belongs_to_no_queue(name):
    first = rendered(Source("spec.yaml", POOL + TREES[name], None))
    assert again(first) == first
