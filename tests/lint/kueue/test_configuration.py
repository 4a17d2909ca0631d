"""The settings that take effect in Kueue."""

from fractions import Fraction

import pytest

from policygen.kubernetes.kueue_settings import selector
from policygen.lint.kueue.configuration import settings
from tests.objects import facts


def of(text="", version="v1beta2", **target):
    """The settings of a Configuration with these lines, or without one."""
    if not text:
        return settings(facts("{apiVersion: v1, kind: Namespace, metadata: {name: a}}", **target))
    head = f"apiVersion: config.kueue.x-k8s.io/{version}\nkind: Configuration\n"
    return settings(facts(head + text, **target))


def test_defaults_without_a_configuration():
    it = of()
    assert (it.frameworks, it.fair_sharing, it.excluded) == (("batch/job",), False, ())
    assert not it.managed.selects({"kubernetes.io/metadata.name": "kueue-system"})
    assert it.managed.selects({"kubernetes.io/metadata.name": "team"})


@pytest.mark.parametrize(
    ("text", "version", "minor", "waits"),
    [
        ("", "", 19, True),
        ("", "", 18, False),
        ("waitForPodsReady: {}", "v1beta2", 18, True),
        ("waitForPodsReady: {}", "v1beta1", 19, False),
        ("waitForPodsReady: {enable: true}", "v1beta1", 18, True),
        ("namespace: x", "v1beta1", 19, False),
        (
            "waitForPodsReady: {}\nfeatureGates: {DisableWaitForPodsReady: true}",
            "v1beta2",
            19,
            False,
        ),
    ],
)
def test_whether_it_waits_for_pods(text, version, minor, waits):
    assert of(text, version, kueue=minor).waits_for_pods is waits


def test_gates_of_the_command_line_replace_those_of_the_file():
    file = (
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
        "featureGates: {TopologyAwareScheduling: false, Other: true}\n"
    )
    assert settings(facts(file)).gate("Other")
    assert not settings(facts(file)).gate("TopologyAwareScheduling")
    controller = """---
apiVersion: apps/v1
kind: Deployment
metadata: {name: k}
spec:
  template:
    spec:
      containers:
      - image: registry.k8s.io/kueue/kueue:v0.19.2
        args: ["--feature-gates=PartialAdmission=false"]
"""
    it = settings(facts(file + controller))
    assert not it.gate("PartialAdmission")
    assert not it.gate("Other")
    assert it.gate("TopologyAwareScheduling")


RESOURCES = """
resources:
  excludeResourcePrefixes: [example.com/]
  transformations:
  - {input: nvidia.com/mig-1g.5gb, strategy: Replace, outputs: {example.org/mem: 5}}
  - {input: nvidia.com/gpu, outputs: {example.org/mem: 80}, multiplyBy: example.org/times}
  deviceClassMappings: [{name: example.org/device, deviceClassNames: [a]}]
"""


def test_what_is_charged():
    it = of(RESOURCES)
    one = Fraction(1)
    assert it.charged({"nvidia.com/mig-1g.5gb": 2 * one, "example.com/x": one}) == {
        "example.org/mem": 10
    }
    assert it.charged({"nvidia.com/gpu": one, "example.org/times": 3 * one}) == {
        "nvidia.com/gpu": 1,
        "example.org/mem": 240,
        "example.org/times": 3,
    }


def test_names_that_kueue_makes():
    it = of(RESOURCES)
    assert it.makes("example.org/device")
    assert it.makes("example.org/mem")
    assert not it.makes("nvidia.com/gpu")
    assert it.excludes("example.com/x")


def test_a_selector_of_unchecked_data():
    assert selector([]) is None
    it = selector({"matchLabels": {"a": "b", "c": 1}})
    assert it.match_labels == {"a": "b"}
