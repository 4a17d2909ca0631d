"""Names of resources that Kubernetes knows."""

import pytest

from policygen.core import standard_resources as resources


@pytest.mark.parametrize(
    ("name", "quota", "containers", "whole", "overcommitted"),
    [
        ("cpu", True, True, False, True),
        ("pods", True, False, True, True),
        ("requests.cpu", True, False, False, True),
        ("gpu", False, False, False, True),
        ("hugepages-2Mi", True, True, False, False),
        ("requests.hugepages-2Mi", True, False, False, True),
        ("nvidia.com/gpu", True, True, True, False),
        ("requests.nvidia.com/gpu", True, False, False, False),
        ("kubernetes.io/batch-cpu", True, True, False, True),
    ],
)
def test_where_a_name_is_valid_and_how_it_counts(name, quota, containers, whole, overcommitted):
    assert resources.known_to_quota(name) is quota
    assert resources.known_to_containers(name) is containers
    assert resources.whole(name) is whole
    assert resources.overcommitted(name) is overcommitted
