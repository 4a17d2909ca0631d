"""Changes of objects that keep workloads out of their queue."""

from policygen.simulate.why.changes import ObjectAdded, QueueChange, RequestChange
from tests.simulate.why.waiting import PLAIN, explain, flavor, job, local, queue, thing


def test_a_missing_queue_is_misspelt_or_must_be_created():
    found = explain("n/a", *PLAIN, job("a", to="z"))
    first, second = found.remedies
    assert first.changes == (QueueChange("z", "q"),)
    assert isinstance(second.changes[0], ObjectAdded)
    assert second.changes[0].data["metadata"] == {"name": "z", "namespace": "n"}


def test_requests_move_into_the_bounds_of_a_limit_range():
    bounds = {"limits": [{"type": "Container", "max": {"nvidia.com/gpu": "2"}}]}
    limits = thing("LimitRange", "l", bounds, "n", "v1")
    found = explain("n/a", *PLAIN, limits, job("a", gpus=4))
    assert found.cause.kind.value == "requests-refused"
    assert found.remedies[0].changes == (RequestChange("main", "nvidia.com/gpu", 4, 2),)


def test_a_quota_for_a_resource_that_the_queue_does_not_cover():
    found = explain("n/a", *PLAIN, job("a", gpus=2, resource="amd.com/gpu"))
    removed, covered = found.remedies
    assert removed.changes == (RequestChange("main", "amd.com/gpu", 2, 0),)
    after = covered.changes[0].after
    assert after["coveredResources"] == ["nvidia.com/gpu", "amd.com/gpu"]
    assert after["flavors"][0]["resources"][1] == {"name": "amd.com/gpu", "nominalQuota": "2"}


def test_a_stopped_queue_that_is_also_full_needs_both_changes():
    stopped = queue("q", stopPolicy="Hold")
    found = explain("n/a", flavor(), stopped, local(), job("a", pods=9))
    assert {len(it.changes) for it in found.remedies} == {2}


def test_a_topology_without_levels_gets_one_and_a_missing_one_is_created():
    aware = flavor(nodeLabels={"a": "b"}, topologyName="t")
    empty = thing("Topology", "t", {})
    found = explain("n/a", aware, empty, queue("q"), local(), job("a"))
    assert found.cause.kind.value == "topology-missing"
    assert found.remedies[0].changes[0].path == ("spec", "levels")
    found = explain("n/a", aware, queue("q"), local(), job("a"))
    assert isinstance(found.remedies[0].changes[0], ObjectAdded)
