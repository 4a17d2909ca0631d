"""The configurations of MIG are possible on the cards, and all nodes together have the instances of the spec."""

from collections import Counter

from hypothesis import assume, given, settings

from policygen.documents.files import Source
from policygen.hardware import mig
from policygen.plan.compile import compile_plan
from policygen.plan.nvidia import mig_manager
from policygen.spec.load import load
from tests.plan.test_node_instances import FAMILIES, POOL, pools


def planned(product, instances, per_node, capacity):
    written = ", ".join(f'"{name}": {count}' for name, count in instances.items() if count)
    text = POOL.format(product=product, instances=written, per_node=per_node, capacity=capacity)
    return compile_plan(load([Source("spec.yaml", text, None)]).spec)


@settings(max_examples=60, deadline=None)
@given(pools())
def test_nodes_have_the_instances_of_the_pool_and_each_card_has_a_possible_layout(drawn):
    product, names, counts, per_node, cards = drawn
    assume(+counts)
    (pool,) = planned(product, counts, per_node, f"totalGPUs: {cards}").pools
    found = mig_manager.layouts(pool)
    assert sum(it.nodes for it in found) == -(-cards // per_node)
    assert len({it.name for it in found}) == len(found)
    total = Counter()
    possible = mig.layouts(FAMILIES[product], names)
    for layout in found:
        offers = Counter()
        for group in layout.cards:
            devices = group.devices or range(per_node)
            offers += Counter({name: n * len(devices) for name, n in group.instances})
            needs = tuple(dict(group.instances).get(name, 0) for name in names)
            assert mig.cards_needed(possible, needs) <= 1
        covered = [it for group in layout.cards for it in group.devices or range(per_node)]
        assert sorted(covered) == list(range(per_node))
        name_of = {f"nvidia.com/{it.resource_suffix}": it.name for it in pool.cut}
        assert offers == +Counter({name_of[name]: n for name, n in layout.offers})
        total += Counter({name: n * layout.nodes for name, n in offers.items()})
    assert total == +counts


def test_cards_with_different_instances_are_listed():
    plan = planned("a100-40gb", {"1g.5gb": 28, "3g.20gb": 6}, 8, "nodes: 1")
    made = mig_manager.configuration(load([]).spec.platform, plan.pools)
    assert made.configs == {
        "all-disabled": [{"devices": "all", "mig-enabled": False}],
        "mig": [
            {"devices": [0, 1, 2, 3], "mig-enabled": True, "mig-devices": {"1g.5gb": 7}},
            {"devices": [4, 5, 6], "mig-enabled": True, "mig-devices": {"3g.20gb": 2}},
            {"devices": [7], "mig-enabled": True, "mig-devices": {}},
        ],
    }


def test_nodes_that_differ_have_a_configuration_of_their_own():
    plan = planned("a100-40gb", {"1g.5gb": 7, "7g.40gb": 15}, 8, "nodes: 2")
    found = mig_manager.layouts(plan.pools[0])
    assert [(it.name, it.nodes) for it in found] == [("mig", 1), ("mig-2", 1)]


def test_the_name_is_that_of_the_node_selector():
    text = POOL.format(
        product="a100-40gb", instances='"1g.5gb": 14', per_node=1, capacity="nodes: 2"
    )
    text = text.replace("{pool: mig}", "{nvidia.com/mig.config: all-1g.5gb}")
    (pool,) = compile_plan(load([Source("spec.yaml", text, None)]).spec).pools
    assert [it.name for it in mig_manager.layouts(pool)] == ["all-1g.5gb"]
