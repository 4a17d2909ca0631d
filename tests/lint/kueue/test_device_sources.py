"""Sources of device class mappings with which Kueue's manager does not start."""

import pytest
import yaml

from policygen.core.finding import dotted
from policygen.lint.kueue.device_sources import SOURCE_GATES, source_faults

REST = "driver: gpu.example.com, deviceSelector: {cel: {expression: 'true'}}"


def found(sources, gates=SOURCE_GATES):
    text = f"resources: {{deviceClassMappings: [{{name: a, sources: {sources}}}]}}"
    return {dotted(path): fault for path, fault in source_faults(yaml.safe_load(text), gates)}


@pytest.mark.parametrize(
    "sources, path, words",
    [
        (f"[{{counter: {{name: A b, {REST}}}}}]", "[0].counter.name", "name of a counter"),
        (f"[{{capacity: {{name: a-b, {REST}}}}}]", "[0].capacity.name", "name of a capacity"),
        (f"[{{capacity: {{name: A_/b, {REST}}}}}]", "[0].capacity.name", "name of a capacity"),
        (
            "[{counter: {name: a, deviceSelector: {cel: {expression: a}}}}]",
            "[0].counter.driver",
            "write a domain",
        ),
        (
            "[{counter: {name: a, driver: b}}]",
            "[0].counter.deviceSelector.cel.expression",
            "write a CEL expression",
        ),
        (
            f"[{{counter: {{name: a, {REST}}}}}, {{capacity: {{name: a, {REST}}}}}]",
            "",
            "write two mappings",
        ),
    ],
)
def test_what_is_refused(sources, path, words):
    ((at, fault),) = found(sources).items()
    assert at == f"resources.deviceClassMappings[0].sources{path}"
    assert words in fault


def test_a_source_needs_its_gate():
    capacity = f"[{{capacity: {{name: a.b/c_d, {REST}}}}}]"
    assert found(capacity) == {}
    (fault,) = found(capacity, SOURCE_GATES[:1]).values()
    assert fault.endswith("in featureGates, write KueueDRAIntegrationConsumableCapacity: true")
