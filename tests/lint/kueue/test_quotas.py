"""The quotas of queues and cohorts with their places."""

from fractions import Fraction

from policygen.core.finding import At
from policygen.lint.kueue.quotas import amounts, every_quota, nominal_quotas, owners
from tests.objects import cluster

TEXT = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: c}
spec: {resourceGroups: [{flavors: [{name: spot, resources: [{name: cpu, nominalQuota: 1}]}]}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  resourceGroups:
  - flavors:
    - {name: spot, resources: [{name: cpu, nominalQuota: 2, borrowingLimit: 0}, {name: gpu, nominalQuota: 0}]}
"""


def test_each_quota_has_its_place():
    found = [
        (str(it.owner), it.flavor, it.resource, it.at) for it in every_quota(owners(cluster(TEXT)))
    ]
    flavor = ("spec", "resourceGroups", 0, "flavors", 0, "resources")
    assert found == [
        ("ClusterQueue q", "spot", "cpu", At(1, (*flavor, 0))),
        ("ClusterQueue q", "spot", "gpu", At(1, (*flavor, 1))),
        ("Cohort c", "spot", "cpu", At(0, (*flavor, 0))),
    ]


def test_nominal_quotas_of_nothing_do_not_count():
    found = nominal_quotas(cluster(TEXT))
    assert {key: [it.owner.name for it in these] for key, these in found.items()} == {
        ("spot", "cpu"): ["q", "c"]
    }


def test_the_amounts_that_a_quota_names():
    cpu, gpu, _ = every_quota(owners(cluster(TEXT)))
    assert dict(amounts(cpu.quota)) == {"nominalQuota": 2, "borrowingLimit": Fraction(0)}
    assert dict(amounts(gpu.quota)) == {"nominalQuota": 0}
