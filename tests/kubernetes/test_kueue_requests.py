"""The requests of pods as Kueue counts them."""

from fractions import Fraction

from policygen.kubernetes.kueue_requests import adjusted, as_pod
from tests.objects import cluster

RANGES = """
{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: n}, spec: {limits: [
  {type: Container, defaultRequest: {cpu: 300m}, default: {memory: 2Gi}, max: {cpu: 8}}]}}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: r}, handler: h,
 overhead: {podFixed: {cpu: 250m}}}
---
"""
GI = 2**30


def read(spec):
    it = cluster(RANGES + "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: " + spec + "}")
    return it, it.workloads[0].templates[0].spec


def test_defaults_of_limit_ranges():
    it, spec = read("{containers: [{resources: {requests: {cpu: 1}}}, {}]}")
    found = adjusted(it, spec, "n")
    assert found.requests == {"cpu": Fraction(13, 10), "memory": 4 * GI}
    assert [c.resources.limits for c in found.containers] == [{"cpu": 8, "memory": 2 * GI}] * 2
    assert adjusted(it, spec, "other") is spec


def test_in_a_template_a_default_request_counts_instead_of_the_limit():
    """Measured on Kueue 0.19.2; for a pod, the API server writes the limit as the request first."""
    it, spec = read("{containers: [{resources: {limits: {cpu: 4}}}]}")
    assert adjusted(it, spec, "n").requests["cpu"] * 10 == 3
    assert adjusted(it, as_pod(spec), "n").requests["cpu"] == 4


def test_the_overhead_of_a_runtime_class():
    it, spec = read("{runtimeClassName: r, containers: [{resources: {requests: {cpu: 1}}}]}")
    assert adjusted(it, spec, "other").requests["cpu"] * 4 == 5
    it, spec = read("{runtimeClassName: r, overhead: {cpu: 1}, containers: []}")
    assert adjusted(it, spec, "other").requests == {"cpu": 1}
    it, spec = read("{runtimeClassName: unknown, containers: []}")
    assert adjusted(it, spec, "other") is spec


def test_kueue_counts_a_pod_level_limit_of_a_template_but_not_of_a_pod():
    """As tests/servers/test_kueue_jobs.py shows."""
    it, spec = read(
        "{resources: {limits: {cpu: 4, memory: 8Gi}}, containers: [{resources: {requests: {cpu: 1}}}]}"
    )
    assert adjusted(it, spec, "m").requests == {"cpu": 4, "memory": 8 * GI}
    assert adjusted(it, as_pod(spec), "m").requests == {"cpu": 1, "memory": 8 * GI}
