"""Volcano's scheduler configuration as it takes effect."""

import pytest

from policygen.core.finding import At
from policygen.core.versions import DEFAULT
from policygen.documents.files import Source
from policygen.kubernetes import manifests
from policygen.kubernetes.cluster import Cluster
from policygen.lint.rule import Facts, Need
from policygen.lint.volcano.configuration import of
from policygen.lint.volcano.rules import volcano_configuration_not_loaded, volcano_scheduler_crashes


def made(text):
    found = manifests.read([Source("a.yaml", text, None)])
    (entry,) = Cluster(found.objects).volcano_configurations
    return of(entry)


TEXT = """\
actions: "enqueue, allocate, reclaim"
tiers:
- plugins: [{name: gang, enablePreemptable: false}]
- plugins:
  - {name: capacity, enableHierarchy: true, arguments: {weight: 3, other: "4"}}
  - {name: gang}
"""


def test_actions_and_plugins():
    it = made(TEXT)
    assert (it.actions, it.evicts) == (("enqueue", "allocate", "reclaim"), ["reclaim"])
    assert [(each.name, each.tier) for each in it.plugins] == [
        ("gang", 0),
        ("capacity", 1),
        ("gang", 1),
    ]
    assert it.actions_at == At(0, ("actions",))


def test_an_empty_argument_is_known_beside_other_empty_fields():
    text = "actions:\ntiers:\n- plugins: [null, {name: usage, arguments: {usage.weight: }}, {name: 1}]\n"
    it = made(text)
    assert [each.name for each in it.plugins] == ["", "usage", "1"]
    assert it.plugins[1].arguments == {"usage.weight": None}


def test_a_flag_is_on_unless_it_is_switched_off():
    it = made(TEXT)
    gang = it.plugin("gang")
    assert not gang.on("enablePreemptable")
    assert gang.on("enableJobOrder")
    assert not gang.on("enableHierarchy")
    assert it.plugin("drf") is None


def test_an_argument_of_another_type_is_missing():
    capacity = made(TEXT).plugin("capacity")
    assert (capacity.number("weight", 1), capacity.number("other", 1)) == (3, 1)
    assert capacity.argument_at("weight") == At(
        0, ("tiers", 1, "plugins", 0, "arguments", "weight"), key=True
    )


@pytest.mark.parametrize(
    ("plugins", "capacity", "proportion", "hierarchy"),
    [
        ("{name: capacity}", True, False, False),
        ("{name: capacity, enableHierarchy: true}", True, False, True),
        ("{name: proportion}", False, True, False),
        ("{name: proportion}, {name: capacity, enableHierarchy: true}", False, False, False),
    ],
)
def test_what_decides_the_share_of_a_queue(plugins, capacity, proportion, hierarchy):
    it = made(f"tiers:\n- plugins: [{plugins}]\n")
    assert (it.capacity is not None, it.proportion is not None) == (capacity, proportion)
    assert it.hierarchy is hierarchy


@pytest.mark.parametrize(("key", "rules"), [("strange", 1), ("action", 0)])
def test_missing_actions_beside_an_unknown_key(key, rules):
    """A key that is similar to `actions` is reported as misspelled, and no other."""
    found = manifests.read([Source("a.yaml", f"tiers: [{{plugins: []}}]\n{key}: allocate\n", None)])
    hits = list(
        volcano_configuration_not_loaded.check(
            Facts(Cluster(found.objects), DEFAULT, frozenset(Need))
        )
    )
    assert len(hits) == rules


@pytest.mark.parametrize(("tiers", "count"), [("}, {", 0), ("}]\n- plugins: [{", 1)])
def test_a_second_rescheduling_of_a_tier_does_not_crash_the_scheduler(tiers, count):
    """Volcano reads the arguments of the first one in each tier."""
    text = f"tiers:\n- plugins: [{{name: rescheduling{tiers}name: rescheduling, arguments: {{interval: 5}}}}]\n"
    found = manifests.read([Source("a.yaml", f"actions: allocate\n{text}", None)])
    facts = Facts(Cluster(found.objects), DEFAULT, frozenset(Need))
    assert len(list(volcano_scheduler_crashes.check(facts))) == count
