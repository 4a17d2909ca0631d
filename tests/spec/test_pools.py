from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.core.finding import At
from policygen.spec import pools
from policygen.spec.types import Capacity, Gpu, Platform, Pool, Spec
from tests.counting import growth

LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("12"), min_size=1, max_size=3)
SCHEDULERS = st.sampled_from((None, "kueue", "volcano"))


def pool(number, labels, scheduler=None):
    return Pool(f"p{number}", At(number), tuple(sorted(labels.items())), scheduler=scheduler)


def disjoint(first, second):
    """True if no node can have the labels of both pools, by the definition."""
    one, other = dict(first.node_selector), dict(second.node_selector)
    return any(key in other and other[key] != value for key, value in one.items())


def overlaps(found):
    """Rule and document of each hit about pools that match the same nodes."""
    return [
        (hit.rule.name, hit.at.document)
        for hit in pools.check(Spec(pools=tuple(found)))
        if hit.rule.name in {"pools-overlap", "two-schedulers"}
    ]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(LABELS, SCHEDULERS), max_size=8))
def test_overlaps_are_those_of_the_definition(drawn):
    made = [pool(number, labels, scheduler) for number, (labels, scheduler) in enumerate(drawn)]
    expected = []
    for number, second in enumerate(made):
        together = [first for first in made[:number] if not disjoint(first, second)]
        if together:
            same = {first.scheduler or "kueue" for first in together} == {
                second.scheduler or "kueue"
            }
            expected.append(("pools-overlap" if same else "two-schedulers", number))
    assert overlaps(made) == expected


def test_the_default_scheduler_is_the_platforms():
    made = (pool(0, {"a": "1"}), pool(1, {"a": "1"}, "volcano"))
    spec = Spec(platform=Platform(scheduler="volcano"), pools=made)
    assert [hit.rule.name for hit in pools.check(spec)] == ["pools-overlap"]


def test_message_names_one_pool_and_counts_the_others():
    made = [pool(number, {"a": "1"}) for number in range(4)]
    messages = [hit.message for hit in pools.check(Spec(pools=tuple(made)))]
    assert 'both this pool and "p0", so' in messages[0]
    assert 'both this pool and "p0" (and 2 more), so' in messages[2]


@pytest.mark.parametrize(
    "labels",
    [
        lambda number: {"pool": f"{number}"},
        lambda _: {"pool": "same"},
        lambda number: {f"key{number % 2}": f"{number}"},
        lambda number: {f"key{number}": "1", "zone": f"{number % 7}"},
    ],
)
def test_thousands_of_pools_are_compared_at_once(labels):
    made = [pool(number, labels(number)) for number in range(2000)]
    assert growth(lambda: overlaps(made[:200]), lambda: overlaps(made)) < 12
    found = overlaps(made)
    sample = made[:60]
    pairs = {second.at.document for first, second in combinations(sample, 2)
             if not disjoint(first, second)}  # fmt: skip
    assert {number for _, number in found if number < 60} == pairs


def faults(capacity=None, **gpu):
    it = Pool(
        "p", At(0), (("a", "1"),), gpu=Gpu(**gpu), capacity=capacity or Capacity(total_gpus=8)
    )
    return [(hit.rule.name, hit.at.path) for hit in pools.faults(it)]


@pytest.mark.parametrize(
    "gpu",
    [
        {},
        {"sharing": "timeSlicing", "replicas": 2},
        {"sharing": "mps", "replicas": 16},
        {"sharing": "mig", "instances": (("1g.5gb", 7),)},
        {"sharing": "mig", "mig_strategy": "single", "instances": (("1g.5gb", 7),)},
        {"sharing": "mig", "instances": (("1g.5gb", 7), ("2g.10gb", 3))},
    ],
)
def test_ways_of_sharing_a_gpu(gpu):
    assert faults(**gpu) == []


def test_a_strategy_counts_only_under_mig():
    assert faults(mig_strategy="single") == [("mig-without-sharing", ("spec", "gpu", "mig"))]


AT = ("spec", "capacity")


@pytest.mark.parametrize(
    "capacity, per_node, expected",
    [
        ({"nodes": 4}, 8, []),
        ({"total_gpus": 32, "nodes": 4}, 8, []),
        ({"total_gpus": 32, "available_gpus": 32}, None, []),
        ({"available_gpus": 28}, None, []),
        ({"nodes": 4, "available_gpus": 32}, 8, []),
        ({"nodes": 4, "node_type": "p4d.24xlarge", "available_gpus": 32}, None, []),
        ({"node_type": "p4d.24xlarge"}, 8, [("capacity-missing", AT)]),
        (
            {"nodes": 4, "node_type": "p4d.24xlarge", "available_gpus": 33},
            None,
            [("available-above-total", (*AT, "availableGPUs"))],
        ),
        # what is written wins over the type
        (
            {"nodes": 4, "node_type": "p4d.24xlarge", "available_gpus": 17},
            4,
            [("available-above-total", (*AT, "availableGPUs"))],
        ),
        (
            {"nodes": 4, "node_type": "p4d.24xlarge", "total_gpus": 31},
            None,
            [("total-contradicts-nodes", (*AT, "totalGPUs"))],
        ),
        (
            {"total_gpus": 4, "available_gpus": 5},
            None,
            [("available-above-total", (*AT, "availableGPUs"))],
        ),
    ],
)
def test_capacity(capacity, per_node, expected):
    assert faults(Capacity(**capacity), per_node=per_node) == expected
