"""The LimitRanges of a namespace."""

from policygen.kubernetes.limit_ranges import container_limits, limits_of
from tests.objects import cluster

TEXT = """
{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: n}, spec: {limits: [
  {type: Container, max: {cpu: 2}}, {type: Pod, max: {cpu: 9}}]}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: other}, spec: {limits: [
  {type: Container, max: {cpu: 5}}]}}
"""


def test_items_of_a_namespace_by_type():
    it = cluster(TEXT)
    assert [item.max for item in container_limits(it, "n")] == [{"cpu": 2}]
    assert [item.max for item in limits_of(it, "n", "Pod")] == [{"cpu": 9}]
    assert list(limits_of(it, "", "Pod")) == []
