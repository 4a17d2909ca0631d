"""Candidates: limits, lending, moved quota, flavors."""

import yaml

from policygen.simulate.why.changes import FieldChange, SelectorChange, TolerationAdded
from policygen.simulate.why.quota_changes import quota_path
from tests.objects import objects
from tests.simulate.why.waiting import explain, flavor, job, local, queue


def fields(found, name):
    """The first changes of remedies that change this field."""
    first = [it.changes[0] for it in found.remedies]
    return [it for it in first if isinstance(it, FieldChange) and it.path[-1] == name]


def test_the_place_of_a_quota():
    (it,) = objects(yaml.safe_dump(queue("q", flavors=("f", "g"))))
    path = quota_path(it, "g", "nvidia.com/gpu")
    assert path == ("spec", "resourceGroups", 0, "flavors", 1, "resources", 0)
    assert quota_path(it, "h", "nvidia.com/gpu") is None


def test_a_borrowing_limit_is_raised_as_little_as_possible():
    own = queue("q", 4, "c", limits={"borrowingLimit": "2"})
    found = explain("n/a", flavor(), own, queue("r", cohort="c"), local(), job("a", pods=8))
    assert [(it.before, it.after) for it in fields(found, "borrowingLimit")] == [("2", "4")]


def test_a_lending_limit_is_raised_as_little_as_possible():
    other = queue("r", 8, "c", limits={"lendingLimit": "1"})
    found = explain("n/a", flavor(), queue("q", 4, "c"), other, local(), job("a", pods=8))
    lent = fields(found, "lendingLimit")
    assert [(it.name, it.before, it.after) for it in lent] == [("r", "1", "4")]


def test_quota_moves_from_a_queue_that_does_not_use_its_own():
    own = queue("q", 4, "c", limits={"borrowingLimit": "0"})
    queues = flavor(), own, queue("r", 8, "c"), queue("s", 8, "c"), local(), local("r", "r")
    found = explain("n/a", *queues, job("b", pods=8, to="r"), job("a", pods=6))
    several = [it.changes for it in found.remedies if len(it.changes) == 2]
    (moved,) = [it for it in several if isinstance(it[0], FieldChange) and it[0].name == "s"]
    assert [(it.name, it.before, it.after) for it in moved] == [("s", "8", "6"), ("q", "4", "6")]


def test_pods_can_use_another_flavor():
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    flavors = (
        flavor("f", nodeLabels={"gpu": "a"}),
        flavor("g", nodeLabels={"gpu": "b"}, nodeTaints=[taint]),
    )
    jobs = [job(name, pods=n, nodeSelector={"gpu": "a"}) for name, n in (("b", 4), ("a", 3))]
    found = explain("n/a", *flavors, queue("q", 4, flavors=("f", "g")), local(), *jobs)
    (both,) = [it.changes for it in found.remedies if isinstance(it.changes[0], SelectorChange)]
    assert both[0] == SelectorChange("main", "gpu", "a", "b")
    assert isinstance(both[1], TolerationAdded)


def test_amounts_also_for_equal_jobs_that_are_admitted_before():
    """All of what four jobs before it request must be added, and not only twice its own request."""
    jobs = [job(it) for it in "abcde"]
    found = explain("n/e", flavor(), queue("q", 0), local(), *jobs)
    (raised,) = fields(found, "nominalQuota")
    assert (raised.before, raised.after) == ("0", "5")
    assert found.remedies[0].cost.admitted == ("n/a", "n/b", "n/c", "n/d")
