"""The line of the spec behind each object and field."""

import pytest

from policygen.plan.origin import Origins


@pytest.fixture
def behind(planned, pool, team):
    """The path in the spec behind a field of an object, and the document that it is in."""
    found = planned(
        pool(),
        team("lab", "guarantee: 8, limit: 16", namespaces=False),
        team("a", "guarantee: 4, weight: 3", parent="lab"),
    )
    origins = Origins(found.loaded.spec, found.plan.pools, found.plan.trees)
    items = {(it.kind.name, it.meta.name): it for it in found.plan.items}

    def at(kind, name, *path):
        place = origins.of(items[kind, name], path)
        return place and (
            place.document,
            place.path[1:] if place.path[:1] == ("spec",) else place.path,
        )

    return at


@pytest.mark.parametrize(
    ("kind", "name", "path", "place"),
    [
        ("ResourceFlavor", "p", (), (0, ("metadata", "name"))),
        ("ResourceFlavor", "p", ("spec", "nodeLabels", "pool"), (0, ("nodeSelector", "pool"))),
        ("Cohort", "p", ("spec", "resourceGroups", 0, "flavors", "p", "nominalQuota"), (0, ("capacity",))),
        ("Cohort", "lab.p", ("spec", "resourceGroups", 0, "flavors", "p", "nominalQuota"), (1, ("quotas", 0, "guarantee"))),
        ("ClusterQueue", "a.p", ("spec", "cohortName"), (2, ("parent",))),
        ("ClusterQueue", "a.p", ("spec", "fairSharing", "weight"), (2, ("quotas", 0, "weight"))),
        ("ClusterQueue", "a.p", ("spec", "namespaceSelector"), (2, ("namespaces",))),
        ("ClusterQueue", "a.p", ("spec", "preemption"), (0, ("schedulingPolicy", "preemptionEnabled"))),
        ("LocalQueue", "p", ("spec", "clusterQueue"), (2, ("namespaces", 0))),
    ],
)  # fmt: skip
def test_where_a_field_comes_from(behind, kind, name, path, place):
    assert behind(kind, name, *path) == place
