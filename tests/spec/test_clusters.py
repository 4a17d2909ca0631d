"""The clusters of a Platform: versions, sizes and quotas that differ, and names that do not exist."""

import pytest

from policygen.core.versions import Version
from policygen.documents.files import Source
from policygen.spec.load import load

SPEC = """\
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: lab}
spec:
  target: {kueue: "0.18"}
  clusters:
  - name: small
    target: {kueue: "0.19"}
    pools:
    - name: a100
      capacity: {totalGPUs: 8}
      quotas: [{team: nlp, guarantee: 4}]
  - name: other
    pools:
    - {name: a100, capacity: {nodeType: a2-highgpu-8g}}
  - name: same
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: a100}
spec:
  nodeSelector: {pool: a100}
  gpu: {perNode: 8, memory: 80Gi}
  capacity: {nodes: 4, availableGPUs: 30, nodeAllocatable: {cpu: 64, memory: 512Gi}}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: nlp}
spec: {namespaces: [{name: nlp}], quotas: [{pool: a100, guarantee: 16, limit: 24}]}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: ops}
spec: {namespaces: [{name: ops}]}
"""


def loaded(text=SPEC, **more):
    return load([Source("spec.yaml", text, None)], **more)


def test_a_cluster_has_its_versions_sizes_and_quotas():
    spec = loaded(cluster="small").spec
    assert spec.platform.target.kueue == Version(0, 19)
    (pool,) = spec.pools
    # The numbers of the size are replaced together, and the shape of a node stays.
    assert (pool.capacity.nodes, pool.capacity.total_gpus, pool.capacity.available_gpus) == (
        None,
        8,
        None,
    )
    assert pool.capacity.node_allocatable is not None
    (quota,) = spec.teams[0].quotas
    assert (quota.guarantee, quota.limit) == ((("", 4),), (("", 24),))


def test_each_field_has_the_place_that_sets_it():
    spec = loaded(cluster="small").spec
    (pool,), (quota,) = spec.pools, spec.teams[0].quotas
    platform, entry = spec.platform.at, ("spec", "clusters", 0, "pools", 0)
    assert spec.platform.cluster.at == platform.to("spec", "clusters", 0)
    assert pool.capacity_at("totalGPUs") == platform.to(*entry, "capacity", "totalGPUs")
    assert pool.capacity_at("nodeAllocatable") == pool.at.to("spec", "capacity", "nodeAllocatable")
    assert quota.field("guarantee") == platform.to(*entry, "quotas", 0, "guarantee")
    assert quota.field("limit") == spec.teams[0].at.to("spec", "quotas", 0, "limit")


def test_other_nodes_have_another_shape_and_the_same_number():
    (pool,) = loaded(cluster="other").spec.pools
    assert (pool.capacity.nodes, pool.capacity.available_gpus) == (4, 30)
    assert (pool.capacity.node_type, pool.capacity.node_allocatable) == ("a2-highgpu-8g", None)


@pytest.mark.parametrize("cluster", [None, "same"])
def test_without_differences_the_spec_counts(cluster):
    spec = loaded(cluster=cluster).spec
    assert spec.platform.target.kueue == Version(0, 18)
    assert spec.teams[0].quotas[0].guarantee == (("", 16),)


def test_the_command_line_comes_before_the_cluster():
    spec = loaded(cluster="small", target={"kueue": Version(0, 17)}).spec
    assert spec.platform.target.kueue == Version(0, 17)


@pytest.mark.parametrize(
    "change, message",
    [
        (
            ("- name: a100", "- name: a10"),
            'ResourcePool "a10" does not exist; did you mean "a100"?',
        ),
        (("{team: nlp,", "{team: npl,"), 'Team "npl" does not exist; did you mean "nlp"?'),
        (
            ("{team: nlp,", "{team: ops,"),
            'Team "ops" has no quota for pool "a100"; known: nlp',
        ),
        (("- name: other", "- name: small"), 'name "small" is already in entry 1 of this list'),
        (
            ("- {name: a100,", "- {name: a100}\n    - {name: a100,"),
            'name "a100" is already in entry 1 of this list',
        ),
        (
            ("quotas: [{team: nlp, guarantee: 4}]", "quotas: [{team: nlp}, {team: nlp}]"),
            'team "nlp" is already in entry 1 of this list',
        ),
        (("totalGPUs: 8", "gpus: 8"), 'unknown field "gpus"'),
        (('kueue: "0.19"', 'kueue: "9.9"'), "kueue"),
    ],
)
def test_wrong_names_are_errors(change, message):
    found = loaded(SPEC.replace(*change, 1)).findings
    assert any(message in it.message for it in found), found
