"""How a profile of kube-scheduler scores nodes."""

import pytest

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.lint.scheduler.scoring import profiles

GROUP = "kubescheduler.config.k8s.io/v1"

ALL = {
    "PodTopologySpread": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}


def profile(**fields):
    """A profile in a cluster of its own."""
    data = {"profiles": [{"schedulerName": "gpu", **fields}]}
    it = Object(At(0), GROUP, "KubeSchedulerConfiguration", "", "", data)
    (found,) = profiles(Cluster((it,)))
    return found


def config(name, **args):
    return {"name": name, "args": args}


def test_without_a_word_all_scores_count():
    found = profile()
    assert found.opponents == ALL
    assert found.scoring.weight == 1
    assert not found.scoring.packs


@pytest.mark.parametrize(
    ("plugins", "opponents", "weight"),
    [
        ({"score": {"disabled": [{"name": "ImageLocality"}]}}, {"ImageLocality"}, 1),
        ({"multiPoint": {"disabled": [{"name": "ImageLocality"}]}}, {"ImageLocality"}, 1),
        ({"score": {"disabled": [{"name": "*"}]}}, set(ALL), 0),
        (
            {
                "score": {
                    "disabled": [{"name": "*"}],
                    "enabled": [{"name": "NodeResourcesFit", "weight": 5}],
                }
            },
            set(ALL),
            5,
        ),
        ({"score": {"enabled": [{"name": "NodeResourcesFit", "weight": 0}]}}, set(), 1),
        ({"multiPoint": {"enabled": [{"name": "NodeResourcesFit", "weight": 7}]}}, set(), 7),
    ],
)
def test_scores_are_merged_as_the_program_does(plugins, opponents, weight):
    found = profile(plugins=plugins)
    assert set(ALL) - set(found.opponents) == opponents
    assert found.scoring.weight == weight


def test_spreading_is_quiet_only_with_an_empty_list():
    quiet = config("PodTopologySpread", defaultingType="List", defaultConstraints=[])
    assert "PodTopologySpread" not in profile(pluginConfig=[quiet]).opponents
    own = config("PodTopologySpread", defaultingType="List", defaultConstraints=[{"maxSkew": 1}])
    assert "PodTopologySpread" in profile(pluginConfig=[own]).opponents


@pytest.mark.parametrize(
    ("strategy", "packs"),
    [
        ({"type": "MostAllocated", "resources": [{"name": "nvidia.com/gpu"}]}, True),
        ({"type": "LeastAllocated", "resources": [{"name": "nvidia.com/gpu"}]}, False),
        ({"type": "MostAllocated"}, False),
        (
            {
                "type": "RequestedToCapacityRatio",
                "resources": [{"name": "nvidia.com/gpu"}],
                "requestedToCapacityRatio": {
                    "shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
                },
            },
            False,
        ),
    ],
)
def test_packing_is_filling_by_gpus(strategy, packs):
    fit = config("NodeResourcesFit", scoringStrategy=strategy)
    assert profile(pluginConfig=[fit]).scoring.packs is packs


def test_a_second_profile_of_one_name_is_left_to_the_rule_that_refuses_it():
    names = {"profiles": [{"schedulerName": it} for it in ("gpu", "gpu", "cpu")]}
    it = Object(At(0), GROUP, "KubeSchedulerConfiguration", "", "", names)
    assert [each.name for each in profiles(Cluster((it,)))] == ["gpu", "cpu"]
