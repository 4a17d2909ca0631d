"""Which pools a model may use."""

import pytest

from tests.plan.model_specs import a100, assigned, model


def test_placement_order_decides(planned, team):
    both = team("a", "guarantee: 8").replace("guarantee: 8}", "guarantee: 8}, {pool: q}")
    for order in ("p, q", "q, p"):
        text = model(f"      placement: {{pools: [{order}]}}")
        done = planned(a100(), a100("q"), both, text)
        assert assigned(done)[0] == order[0]


@pytest.mark.parametrize("kind", ["a100-40gb", "NVIDIA-A100-SXM4-40GB", "p"])
def test_node_types_name_products_labels_or_pools(planned, team, kind):
    text = model(f"      placement: {{nodeTypes: [{kind}]}}")
    done = planned(a100(), a100("q", "80GB"), team("a", "guarantee: 8"), text)
    assert assigned(done)[0] == "p"
    assert "node-type-not-offered" not in done.rules


def test_a_label_and_a_product_of_one_name_mean_the_pools_of_both(planned, team):
    labelled = a100("q", "80GB").replace("{pool: q}", "{pool: q, card: a100-40gb}")
    cut = a100("r", "80GB").replace("{pool: r}", "{pool: r, card: other}")
    both = team("a", "guarantee: 8").replace("pool: p", "pool: q")
    text = model("      placement: {nodeTypes: [a100-40gb], pools: [r, q, p]}")
    done = planned(a100(), labelled, cut, both, text)
    assert assigned(done)[0] == "q"
    text = model("      placement: {nodeTypes: [a100-40gb]}")
    assert assigned(planned(a100(), labelled, cut, both, text))[0] == "q"
    assert assigned(planned(a100(), labelled, cut, team("a", "guarantee: 8"), text))[0] == "p"


def test_a_node_type_that_no_cloud_offers_is_a_warning(planned, team):
    text = model("      placement: {nodeTypes: [h100, a100-40gb]}")
    done = planned(a100(), team("a", "guarantee: 8"), text)
    assert "node-type-not-offered" in done.rules
    assert assigned(done)[0] == "p"


def test_spot_pools_only_where_tolerated(planned, team):
    spot = a100(more="      provisioning: spot")
    done = planned(spot, team("a", "guarantee: 8"), model())
    assert "only-preemptible-pools" in done.rules
    tolerant = model("      placement: {toleratePreemptible: true}")
    assert assigned(planned(spot, team("a", "guarantee: 8"), tolerant))[0] == "p"
