from fractions import Fraction

import pytest

from policygen.simulate.volcano import amounts

GPU = "nvidia.com/gpu"


def test_quantities_are_counted_in_thousandths_and_bytes():
    quantities = {
        "cpu": Fraction(3, 2),
        "memory": Fraction(1024),
        GPU: Fraction(2),
        "pods": Fraction(5),
    }
    assert amounts.counted(quantities) == {"cpu": 1500, "memory": 1024, GPU: 2000, "pods": 5}


@pytest.mark.parametrize("name", ["gpu", "requests.nvidia.com/gpu", "count/pods", "services"])
def test_names_that_volcano_does_not_count_are_dropped(name):
    assert amounts.counted({name: Fraction(1)}) == amounts.empty()


def test_a_missing_resource_is_zero_in_comparisons():
    assert amounts.shortages({"cpu": 1, "memory": 0, GPU: 1000}, amounts.empty()) == ["cpu", GPU]
    assert amounts.fits(amounts.empty(), amounts.empty())


def test_only_requested_resources_count_against_a_limit():
    used, limit = {"cpu": 9, "memory": 0, GPU: 3000}, {"cpu": 1, "memory": 0, GPU: 2000}
    assert amounts.excesses(used, limit, {"cpu": 0, "memory": 0, GPU: 1000}) == [GPU]
    assert amounts.excesses(used, limit, {"cpu": 0, "memory": 0, "pods": 1}) == []


def test_pods_alone_are_nothing():
    assert amounts.is_empty({"cpu": 0, "memory": 0, "pods": 1})


def test_a_limit_that_does_not_name_a_resource_leaves_it_or_removes_it():
    have = {"cpu": 5, "memory": 5, GPU: 5}
    limit = {"cpu": 3, "memory": 9}
    assert amounts.clip(dict(have), limit) == {"cpu": 3, "memory": 5, GPU: 5}
    assert amounts.clip(dict(have), limit, unlimited=False) == {"cpu": 3, "memory": 5, GPU: 0}


def test_the_excess_names_only_what_exceeds():
    assert amounts.excess({"cpu": 2, "memory": 1, GPU: 4}, {"cpu": 1, "memory": 1, GPU: 4}) == {
        "cpu": 1,
        "memory": 0,
    }


def test_a_queue_reclaims_while_any_resource_is_below_what_it_deserves():
    deserved = {"cpu": 10, "memory": 0, GPU: 1000}
    request = {"cpu": 1, "memory": 0, GPU: 1000}
    assert amounts.within_partly({"cpu": 5, "memory": 0, GPU: 2000}, deserved, request)
    assert not amounts.within_partly({"cpu": 11, "memory": 0, GPU: 2000}, deserved, request)
    assert amounts.above_partly({"cpu": 5, "memory": 0, GPU: 2000}, deserved, request)
    assert not amounts.above_partly({"cpu": 5, "memory": 9, GPU: 900}, deserved, request)


@pytest.mark.parametrize(("used", "limit", "expected"), [(1, 2, 0.5), (0, 0, 0), (1, 0, 1)])
def test_the_share_of_nothing_is_all_of_it(used, limit, expected):
    assert amounts.share(used, limit) == expected
