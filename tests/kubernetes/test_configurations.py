"""Volcano's configuration: its plugins and its actions."""

from policygen.kubernetes.configurations import (
    VolcanoConfigurationView,
    VolcanoPlugin,
    VolcanoTier,
)


def test_a_plugin_is_found_in_the_first_tier_that_has_it():
    gang, drf, again = VolcanoPlugin("gang"), VolcanoPlugin("drf"), VolcanoPlugin("drf", {"a": 1})
    it = VolcanoConfigurationView(tiers=(VolcanoTier((gang,)), VolcanoTier((gang, drf, again))))
    assert it.plugin("gang") == (0, 0, gang)
    assert it.plugin("drf") == (1, 1, drf)
    assert it.plugin("nodeorder") is None


def test_actions_are_separated_by_commas():
    assert VolcanoConfigurationView("enqueue, allocate,,backfill ").action_names == (
        *("enqueue", "allocate", "backfill"),
    )
    assert VolcanoConfigurationView().action_names == ()
