"""ResourceQuotas of a spec rise with the limits of its teams."""

import pytest
import yaml

from policygen.app import simulation_input
from policygen.app.requests import ClusterRequest, SimulateRequest
from policygen.app.simulation_scene import scene_of
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.changes import SpecChange
from policygen.simulate.why.fit import FitRequest, fit

SPEC = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: p}
spec: {}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: l4}
spec:
  nodeSelector: {pool: l4}
  gpu: {product: NVIDIA-L4, perNode: 4}
  capacity: {nodes: 8, nodeAllocatable: {cpu: "46", memory: 178Gi}}
  scheduler: kube-scheduler
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: a}
spec:
  namespaces: [{name: a}, {name: a-dev}]
  quotas: [{pool: l4, limit: 9}]
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: b}
spec:
  namespaces: [{name: b}]
  maxPending: 1
  quotas: [{pool: l4, limit: 2}]
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: c}
spec:
  namespaces: [{name: c}]
  quotas: [{pool: l4, guarantee: 4}]
"""


def answered(path, team, pods):
    request = SimulateRequest(specs=(str(path),), duration=0.0, clusters=ClusterRequest())
    made = scene_of(request, *simulation_input.read(request, None, lambda _: None))
    return fit(made, arrivals(made), FitRequest(team, 1, pods=pods, pool="l4"))


def raises(found):
    """The edits of each remedy that changes a spec. No remedy changes a rendered object."""
    assert all("ResourceQuota" not in str(it.changes) for it in found if not _of_spec(it))
    return [
        [(it.name, it.pool, it.field, it.before, it.after) for it in one.changes[0].edits]
        for one in found
        if _of_spec(one)
    ]


def _of_spec(remedy):
    return isinstance(remedy.changes[0], SpecChange)


def test_the_smallest_limit_of_the_team_with_which_all_pods_are_created(tmp_path):
    """9 GPUs are 5 and 4 for the two namespaces; the first one gets 7 of 13."""
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC, "utf-8")
    found = answered(path, "a", 7).explanation
    assert found.cause.kind.value == "pods-refused"
    assert raises(found.remedies) == [[("a", "l4", "limit", "9", "13")]]
    documents = list(yaml.safe_load_all(SPEC))
    documents[2]["spec"]["quotas"][0]["limit"] = 12
    path.write_text(yaml.safe_dump_all(documents), "utf-8")
    assert answered(path, "a", 7).explanation.waits
    documents[2]["spec"]["quotas"][0]["limit"] = 13
    path.write_text(yaml.safe_dump_all(documents), "utf-8")
    assert not answered(path, "a", 7).explanation.waits


def test_a_limit_also_raises_the_number_of_objects(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC, "utf-8")
    found = answered(path, "b", 5).explanation
    assert raises(found.remedies) == [[("b", "l4", "limit", "2", "5")]]


@pytest.mark.parametrize(
    ("of_parent", "raised"), [(8, [("p", "l4", "limit", "8", "10")]), (20, [])]
)
def test_the_limit_of_a_parent_rises_only_to_that_of_its_child(tmp_path, of_parent, raised):
    documents = list(yaml.safe_load_all(SPEC))
    documents[3]["spec"]["parent"] = "p"
    limit = {"quotas": [{"pool": "l4", "limit": of_parent}]}
    parent = {**documents[3], "metadata": {"name": "p"}, "spec": limit}
    path = tmp_path / "spec.yaml"
    path.write_text(yaml.safe_dump_all([*documents, parent]), "utf-8")
    found = answered(path, "b", 10).explanation
    assert raises(found.remedies) == [[("b", "l4", "limit", "2", "10"), *raised]]


def test_no_limit_of_the_spec_is_enough(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC, "utf-8")
    assert raises(answered(path, "a", 33).explanation.remedies) == []
