import pytest

from policygen.simulate.volcano.settings import BUILT_IN, TierPlugin, settings_of


def test_flags_are_on_by_default_but_for_the_hierarchy():
    plugin = TierPlugin("capacity", {"enableReclaimable": False, "enableJobOrder": None})
    assert plugin.on("enableJobOrder")
    assert plugin.on("enabledAllocatable")
    assert not plugin.on("enableReclaimable")
    assert not plugin.on("enableHierarchy")


def test_an_argument_of_another_type_is_the_default():
    plugin = TierPlugin("binpack", {}, {"binpack.weight": "10", "binpack.cpu": 5})
    assert plugin.number("binpack.weight", 1) == 1
    assert plugin.number("binpack.cpu", 1) == 5


@pytest.mark.parametrize("actions", ["allocate, reclam", "allocate,", ""])
def test_an_unknown_action_brings_the_built_in_settings(actions):
    assert settings_of({"actions": actions, "tiers": []}) is BUILT_IN


def test_what_is_not_modelled_is_named():
    data = {
        "actions": "allocate, shuffle",
        "tiers": [
            {
                "plugins": [
                    {"name": "gang"},
                    {"name": "sla"},
                    {"name": "drf", "enableHierarchy": True},
                    {"name": "resource-strategy-fit", "arguments": {"sra": {"enable": True}}},
                ]
            }
        ],
        "configurations": [
            {"name": "preempt", "arguments": {"enableTopologyAwarePreemption": True}}
        ],
    }
    assert settings_of(data).unmodelled == (
        "action shuffle",
        "enableTopologyAwarePreemption of the action preempt",
        "plugin sla",
        "enableHierarchy of the plugin drf",
        "sra of the plugin resource-strategy-fit",
    )
