"""The configuration of Volcano's scheduler."""

import pytest

from policygen.core.names import GPU
from policygen.plan.volcano_configuration import CONFIGURATION


def plugins(done):
    return {
        plugin.name: plugin
        for tier in done.plan.file(CONFIGURATION).fields.tiers
        for plugin in tier
    }


CONFIG = frozenset({"volcano-config"})


def test_configuration_that_packs(planned, volcano, team):
    done = planned(volcano(), team("a"), extras=CONFIG)
    made = plugins(done)
    assert done.plan.file(CONFIGURATION).fields.actions == "allocate, preempt, reclaim, backfill"
    first, _ = done.plan.file(CONFIGURATION).fields.tiers
    assert [plugin.name for plugin in first] == ["priority", "gang", "conformance", "capacity"]
    assert made["capacity"].hierarchy
    assert made["gang"].yields
    assert "proportion" not in made
    assert made["binpack"].arguments == {
        "binpack.weight": 10,
        "binpack.cpu": 1,
        "binpack.memory": 1,
        "binpack.resources": GPU,
        f"binpack.resources.{GPU}": 17,  # one GPU of 8 is worth more than all cpu and memory
    }
    assert set(made["nodeorder"].arguments.values()) == {0}
    assert "volcano-config-needed" not in done.rules


@pytest.mark.parametrize("version, fits", [("1.12", False), ("1.13", True)])
def test_configuration_that_spreads(planned, volcano, team, version, fits):
    platform = f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {{name: set}}
    spec: {{target: {{volcano: "{version}"}}}}
    """
    pool = volcano(more="schedulingPolicy: {spread: true}")
    made = plugins(planned(platform, pool, team("a"), extras=CONFIG))
    assert "binpack" not in made
    assert made["nodeorder"].arguments["leastrequested.weight"] == (0 if fits else 10)
    assert ("resource-strategy-fit" in made) == fits
    if fits:
        weights = {
            name: least["weight"]
            for name, least in made["resource-strategy-fit"].arguments["resources"].items()
        }
        assert weights == {GPU: 17, "cpu": 1, "memory": 1}


def test_configuration_without_preemption_reclaims_nothing(planned, volcano, team):
    pool = volcano(more="schedulingPolicy: {preemptionEnabled: false}")
    done = planned(pool, team("a"), extras=CONFIG)
    assert done.plan.file(CONFIGURATION).fields.actions == "allocate, backfill"
    assert not plugins(done)["gang"].yields


def test_node_groups_switch_their_plugin_on_for_all(planned, volcano, team):
    pool = volcano().replace("pool: p", "volcano.sh/nodegroup-name: p")
    made = plugins(planned(pool, team("a"), extras=CONFIG))
    assert made["nodegroup"].arguments == {"strict": False}


@pytest.mark.parametrize(
    "target, other, arguments",
    [
        ("1.12", "volcano.sh/nodegroup-name: q", {}),
        ("1.12", "zone: z", None),  # whose queues would fit no node at all
        ("1.13", "zone: z", {"strict": False}),
    ],
)
def test_before_1_13_all_pools_or_no_pool_have_node_groups(
    planned, volcano, team, target, other, arguments
):
    platform = f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {{name: set}}
    spec: {{target: {{volcano: "{target}"}}}}
    """
    grouped = volcano().replace("pool: p", "pool: p\n    volcano.sh/nodegroup-name: p")
    second = volcano(name="q").replace("pool: q", f"pool: q\n    {other}")
    second = second.replace("  gpu:\n", "  gpu:\n    resource: example.com/gpu\n")
    made = plugins(planned(platform, grouped, second, team("a"), extras=CONFIG))
    assert ("nodegroup" in made) == (arguments is not None)
    assert arguments is None or made["nodegroup"].arguments == arguments
