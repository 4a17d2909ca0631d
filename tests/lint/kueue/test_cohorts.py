"""The tree of cohorts: sums and ceilings as Kueue computes them."""

from fractions import Fraction

import pytest

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.lint.kueue.cohorts import forest

CELL = ("a100", "nvidia.com/gpu")


def groups(nominal, borrowing=None, lending=None):
    quota = {"name": CELL[1], "nominalQuota": nominal}
    if borrowing is not None:
        quota["borrowingLimit"] = borrowing
    if lending is not None:
        quota["lendingLimit"] = lending
    return [{"coveredResources": [CELL[1]], "flavors": [{"name": CELL[0], "resources": [quota]}]}]


def queue(name, cohort, *limits, version="v1beta2"):
    field = "cohortName" if version == "v1beta2" else "cohort"
    spec = {field: cohort, "resourceGroups": groups(*limits)}
    return made("ClusterQueue", name, spec, version)


def cohort(name, parent=None, *limits):
    spec = {"resourceGroups": groups(*limits)} if limits else {}
    if parent:
        spec["parentName"] = parent
    return made("Cohort", name, spec, "v1beta2")


def made(kind, name, spec, version):
    data = {"metadata": {"name": name}, "spec": spec}
    return Object(At(0), f"kueue.x-k8s.io/{version}", kind, name, "", data)


def ceilings(*objects):
    trees = Cluster(objects).derive(forest)
    return {name: int(node.ceiling(CELL)) for name, node in trees.queues.items()}


def test_a_queue_reaches_all_of_its_cohort():
    assert ceilings(queue("a", "all", 8), queue("b", "all", 4)) == {"a": 12, "b": 12}


def test_the_borrowing_limit_bounds_what_is_reached():
    assert ceilings(queue("a", "all", 8), queue("b", "all", 4, 2)) == {"a": 12, "b": 6}


def test_the_lending_limit_keeps_the_rest_at_home():
    assert ceilings(queue("a", "all", 8, None, 3), queue("b", "all", 4)) == {"a": 12, "b": 7}


def test_a_cohorts_own_quota_adds_to_its_members():
    assert ceilings(cohort("all", None, 10), queue("a", "all", 8)) == {"a": 18}


def test_a_limit_halfway_up_binds_all_below():
    assert ceilings(
        cohort("all", None, 100),
        cohort("team", "all", 0, 5),
        queue("a", "team", 8),
        queue("b", "team", 2),
    ) == {"a": 15, "b": 15}


def test_v1beta1_names_the_cohort_otherwise():
    old = queue("a", "all", 8, version="v1beta1")
    assert ceilings(old, queue("b", "all", 4)) == {"a": 12, "b": 12}


def test_cycles_are_found_once_and_mark_what_is_below():
    trees = Cluster(
        [
            cohort("b", "c"),
            cohort("c", "a"),
            cohort("a", "b"),
            cohort("self", "self"),
            cohort("below", "a"),
            queue("q", "below", 8),
            queue("free", "elsewhere", 8),
        ]
    ).derive(forest)
    assert trees.cycles == (("a", "b", "c"), ("self",))
    assert trees.queues["q"].cyclic
    assert not trees.queues["free"].cyclic


@pytest.mark.parametrize("depth", [3000])
def test_deep_trees_need_no_stack(depth):
    chain = [cohort(f"c{i}", f"c{i + 1}", 1) for i in range(depth)]
    trees = Cluster([*chain, queue("q", "c0", 1)]).derive(forest)
    assert trees.queues["q"].ceiling(CELL) == Fraction(depth + 1)
