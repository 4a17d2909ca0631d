"""MIG instances of a pool on its nodes: every node's cards hold its instances, and the sums are those of the spec."""

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from policygen.documents.files import Source
from policygen.hardware import catalog, mig
from policygen.plan.compile import compile_plan
from policygen.plan.node_instances import fullest_node, node_instances
from policygen.spec.load import load

FAMILIES = {
    name: catalog.mig_family(product) for name, product in catalog.products().items() if product.mig
}
POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {{name: mig}}
spec:
  nodeSelector: {{pool: mig}}
  gpu: {{perNode: {per_node}, product: {product}, sharing: mig, mig: {{instances: {{{instances}}}}}}}
  capacity: {{{capacity}, nodeAllocatable: {{cpu: 96, memory: 1000Gi}}}}
"""


def nodes(product, instances, per_node=8, capacity="nodes: 2"):
    written = ", ".join(f'"{name}": {count}' for name, count in instances.items() if count)
    text = POOL.format(product=product, instances=written, per_node=per_node, capacity=capacity)
    (pool,) = compile_plan(load([Source("spec.yaml", text, None)]).spec).pools
    total = pool.pool.capacity.available_gpus or pool.pool.capacity.total_gpus
    count = pool.pool.capacity.nodes or -(-total // per_node)
    name_of = {f"nvidia.com/{it.resource_suffix}": it.name for it in pool.cut}
    return [
        {name_of[resource]: n for resource, n in it.items()} for it in node_instances(pool, count)
    ]


@st.composite
def pools(draw):
    """A pool whose cards are cut one by one, and the cards of each node."""
    product = draw(st.sampled_from(sorted(FAMILIES)))
    family = FAMILIES[product]
    names = sorted(
        set(draw(st.lists(st.sampled_from(sorted(family.profiles)), min_size=1, max_size=3)))
    )
    layouts = mig.layouts(family, names)
    per_node, cards = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    counts = Counter()
    for layout in draw(st.lists(st.sampled_from(layouts), min_size=cards, max_size=cards)):
        for name, most in zip(names, layout, strict=True):
            counts[name] += draw(st.integers(0, most))
    return product, names, counts, per_node, cards


@settings(max_examples=60, deadline=None)
@given(pools())
def test_the_cards_of_each_node_hold_its_instances_and_the_sums_are_those_of_the_spec(drawn):
    product, names, counts, per_node, cards = drawn
    assume(+counts)
    found = nodes(product, counts, per_node, f"totalGPUs: {cards}")
    assert sum(map(Counter, found), Counter()) == +counts
    layouts = mig.layouts(FAMILIES[product], names)
    for i, it in enumerate(found):
        needs = tuple(it.get(name, 0) for name in names)
        assert mig.cards_needed(layouts, needs) <= min(per_node, cards - i * per_node)


@pytest.mark.parametrize(
    "instances, expected",
    [
        # One configuration for all nodes, also of different cards: four with 7 × 1g, four with 2 × 3g.
        ({"1g.5gb": 56, "3g.20gb": 16}, [{"1g.5gb": 28, "3g.20gb": 8}] * 2),
        # mig-parted's all-balanced.
        (
            {"1g.5gb": 32, "2g.10gb": 16, "3g.20gb": 16},
            [{"1g.5gb": 16, "2g.10gb": 8, "3g.20gb": 8}] * 2,
        ),
        # What remains goes to different nodes.
        ({"1g.5gb": 57, "3g.20gb": 15}, [{"1g.5gb": 29, "3g.20gb": 7}, {"1g.5gb": 28, "3g.20gb": 8}]),
        # Halves do not fit: 7g takes a card, and 15 of 16 cards have one.
        ({"1g.5gb": 7, "7g.40gb": 15}, [{"1g.5gb": 0, "7g.40gb": 8}, {"1g.5gb": 7, "7g.40gb": 7}]),
    ],
)  # fmt: skip
def test_nodes_are_as_equal_as_their_cards_allow(instances, expected):
    found = nodes("a100-40gb", instances)
    assert sorted(found, key=lambda it: sorted(it.items())) == sorted(
        expected, key=lambda it: sorted(it.items())
    )


def test_without_known_profiles_the_sums_hold():
    text = POOL.format(
        product="x", instances='"1g.5gb": 15', per_node=8, capacity="nodes: 2"
    ).replace("product: x", "memory: 40Gi")
    (pool,) = compile_plan(load([Source("spec.yaml", text, None)]).spec).pools
    found = node_instances(pool, 2)
    assert sorted(it["nvidia.com/mig-1g.5gb"] for it in found) == [7, 8]


@pytest.mark.parametrize(("count", "number"), [(433, 64), (64, 64), (5, 7)])
def test_the_fullest_node_of_a_pool_with_one_profile_of_an_unknown_product(count, number):
    text = POOL.format(
        product="unknown", instances=f'"3g.20gb": {count}', per_node=4, capacity=f"nodes: {number}"
    ).replace("product: unknown, ", "")
    (pool,) = compile_plan(load([Source("spec.yaml", text, None)]).spec).pools
    (slices,) = pool.slices.values()
    found = node_instances(pool, number)
    assert fullest_node(pool) == max(sum(it.values()) for it in found) * slices
