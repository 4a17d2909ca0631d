"""API versions that Kubernetes removed."""

import pytest

from policygen.core.versions import SUPPORTED, Version
from policygen.lint.core.removed_versions import find, table
from tests.objects import objects


def removal(api_version, kind, minor):
    (it,) = objects(f"{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: a}}}}")
    found = find(it, Version(1, minor))
    return found and (found.release, found.successor)


@pytest.mark.parametrize(
    ("api_version", "kind", "minor", "expected"),
    [
        ("autoscaling/v2beta2", "HorizontalPodAutoscaler", 36, ((1, 26), "autoscaling/v2")),
        ("autoscaling/v2", "HorizontalPodAutoscaler", 36, None),
        ("resource.k8s.io/v1alpha2", "ResourceClaim", 33, ((1, 31), "resource.k8s.io/v1alpha3")),
        ("resource.k8s.io/v1alpha2", "ResourceClaim", 34, ((1, 31), "resource.k8s.io/v1")),
        ("resource.k8s.io/v1alpha3", "ResourceClaim", 33, None),
        ("resource.k8s.io/v1alpha2", "ResourceClass", 36, ((1, 31), None)),
    ],
)
def test_removal_and_what_replaces_it(api_version, kind, minor, expected):
    assert removal(api_version, kind, minor) == expected


def test_every_successor_is_served_by_every_release_that_needs_it():
    first, last = SUPPORTED["kubernetes"]
    for api_version, kinds in table().items():
        for kind in kinds:
            for minor in range(first[1], last[1] + 1):
                found = removal(api_version, kind, minor)
                assert not (found and found[1] and removal(found[1], kind, minor))
