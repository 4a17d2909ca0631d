"""Workloads that are not admissible in themselves, in the words that Kueue was measured to write."""

import pytest

from policygen.kubernetes.kueue_requests import adjusted
from policygen.simulate.kueue.refusals import refusal
from tests.objects import cluster

RANGES = """
{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: n}, spec: {limits: [
  {type: Container, defaultRequest: {cpu: 300m}, max: {cpu: 3}, min: {memory: 10Mi}}, {type: Pod, max: {cpu: 4}}]}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: m, namespace: n}, spec: {limits: [
  {type: Container, max: {cpu: 2}, min: {memory: 5Mi}}]}}
---
"""
POD = "spec.podSets[0].template.spec"
ABOVE = "resources validation failed: "
RANGE = "resources didn't satisfy LimitRange constraints: "


def found(spec, namespace="n"):
    it = cluster(RANGES + "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" + spec + "}}")
    pods = adjusted(it, it.workloads[0].templates[0].spec, namespace)
    return refusal(it, [pods], namespace)


def containers(*resources, field="containers"):
    return f"{field}: [" + ", ".join(f"{{resources: {{{it}}}}}" for it in resources) + "]"


FITS = "requests: {cpu: 1}, limits: {cpu: 1}"
FAULT = f'{POD}.containers[0]: Invalid value: ["cpu"]: requests must not exceed its limits'


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (containers(FITS), ""),
        (containers("limits: {cpu: 100m}"), f"{ABOVE}{FAULT}"),
        (
            containers("limits: {cpu: 100m}", "limits: {cpu: 200m}"),
            f"{ABOVE}[{FAULT}, {FAULT.replace('s[0]: I', 's[1]: I')}]",
        ),
        (
            f"{containers(FITS)}, {containers('requests: {cpu: 3}, limits: {cpu: 3}', field='initContainers')}",
            f'{RANGE}{POD}.initContainers[0]: Invalid value: ["cpu"]: requests must not be above the limitRange max',
        ),
        (
            containers("requests: {cpu: 1, memory: 7Mi}, limits: {cpu: 1}"),
            f'{RANGE}{POD}.containers[0]: Invalid value: ["memory"]: requests must not be below the limitRange min',
        ),
        (
            containers(*["requests: {cpu: 1500m}, limits: {cpu: 2}"] * 3),
            f'{RANGE}{POD}: Invalid value: ["cpu"]: requests must not be above the limitRange max',
        ),
        (
            f"resources: {{requests: {{cpu: 2}}, limits: {{cpu: 1}}}}, {containers(FITS)}",
            f'{ABOVE}{POD}.resources: Invalid value: ["cpu"]: requests must not exceed its limits',
        ),
    ],
)
def test_refusals(spec, words):
    assert found(spec) == words


def test_only_the_limit_ranges_of_the_namespace_count():
    assert found(containers("limits: {cpu: 100m}"), "other") == ""
