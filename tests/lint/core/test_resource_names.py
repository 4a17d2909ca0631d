"""Typos in resource names are distinguished from custom names."""

import pytest

from policygen.lint.core.resource_names import meant


@pytest.mark.parametrize(
    "name, wanted",
    [
        ("nvidia.com/gpus", "nvidia.com/gpu"),
        ("nvdia.com/gpu", "nvidia.com/gpu"),
        ("Memory", "memory"),
        ("gpu", "nvidia.com/gpu"),
        ("nvidia.com/gpu.shared", None),
        ("nvidia.com/mig-1g.10gb", None),
        ("nvidia.com/total-gpumem", None),
        ("example.com/gpu", None),
        ("credits", None),
        ("hugepages-2Mi", None),
    ],
)
def test_typos_are_distinguished_from_custom_names(name, wanted):
    assert meant(name) == wanted
