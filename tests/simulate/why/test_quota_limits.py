"""Which limits keep quota from a queue, with hand-computed numbers. Amounts are GPUs."""

from policygen.report import cause_words
from tests.simulate.why.waiting import GPU, explain, flavor, job, local, queue, thing


def cohort(name, parent, nominal="0", **limits):
    quota = {"name": GPU, "nominalQuota": nominal, **limits}
    groups = [{"coveredResources": [GPU], "flavors": [{"name": "f", "resources": [quota]}]}]
    return thing("Cohort", name, {"parentName": parent, "resourceGroups": groups})


def limits(found):
    return [
        (it.kind, it.name, it.field, it.limit, it.used) for it in found.cause.obstacles[0].limits
    ]


def waiting(*queues, pods=6):
    return explain(
        "n/a", flavor(), *queues, local(), local("r", "r"), job("a", pods=pods, after="1m")
    )


def test_the_limit_of_the_queue_itself():
    own = queue("q", 2, "c", limits={"borrowingLimit": "3"})
    found = waiting(own, queue("r", 8, "c"), job("b", pods=3))
    assert found.cause.kind.value == "above-maximum"  # 2 + 3 are fewer than 6
    assert limits(found) == [("ClusterQueue", "q", "borrowingLimit", 3, 1)]
    found = waiting(own, queue("r", 8, "c"), job("b", pods=3), pods=4)
    assert found.cause.kind.value == "borrowing-limit"
    assert limits(found) == [("ClusterQueue", "q", "borrowingLimit", 3, 1)]
    assert (
        "ClusterQueue q may borrow at most 3 (borrowingLimit), and borrows 1."
        in cause_words.reasons(found)
    )


def test_the_limit_of_a_cohort_above_the_queue():
    """q may borrow all. Its cohort has 2 + 3 of its queues, and may borrow 1."""
    part = cohort("part", "root", borrowingLimit="1")
    own = queue("q", 2, "part"), queue("s", 3, "part")
    found = waiting(part, *own, queue("r", 8, "root"), job("b", pods=1), pods=6)
    assert limits(found) == [("Cohort", "part", "borrowingLimit", 1, 0)]
    assert "Cohort part may borrow at most 1 (borrowingLimit), and borrows 0." in (
        cause_words.reasons(found)
    )


def test_a_limit_that_does_not_matter_is_not_named():
    """Another limit is lower, and without any of them other workloads use the rest."""
    own = queue("q", 2, "c", limits={"borrowingLimit": "6"})
    found = waiting(own, queue("r", 8, "c"), job("b", pods=8, to="r"))
    assert (found.cause.kind.value, limits(found)) == ("no-free-quota", [])


def test_what_others_do_not_lend():
    other = queue("r", 8, "c", limits={"lendingLimit": "2"})
    found = waiting(queue("q", 4, "c"), other, job("b", pods=1, to="r"), pods=7)
    assert limits(found)[-1] == ("ClusterQueue", "r", "lendingLimit", 2, 5)
    kinds = {"not-lent", "above-maximum"}
    assert found.cause.kind.value in kinds


def test_the_queue_that_keeps_its_quota_is_named():
    """q has 4 and could use 2 of r, but 3 are in use: 5 of r are free and not lent."""
    other = queue("r", 8, "c", limits={"lendingLimit": "2"})
    found = waiting(queue("q", 4, "c"), other, job("b", pods=3), job("d", pods=1, to="r"), pods=5)
    assert found.cause.kind.value == "not-lent"
    assert (
        "ClusterQueue r lends at most 2 (lendingLimit), and keeps 5 free for itself."
        in cause_words.reasons(found)
    )
