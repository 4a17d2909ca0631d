"""Which pools a model may use."""

import pytest
from msgspec.structs import replace

from policygen.plan.compile import compile_plan
from tests.plan.model_specs import a100, assigned, messages, model, models, quotas, where


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


ONE = "resources: {gpuMemory: 13Gi}, replicas: 4"


@pytest.mark.parametrize(
    "first, second, more, expected",
    [
        # p comes first by name; each line makes q better by one criterion
        ("guarantee: 8", "guarantee: 8", "", ("p", "name")),
        ("guarantee: 2", "guarantee: 8", "", ("q", "guarantee")),
        ("guarantee: 2, limit: 2", "guarantee: 0, limit: 4", "", ("q", "limit")),
        ("guarantee: 2, limit: 4", "guarantee: 3", "", ("p", "name")),
        ("guarantee: 0", "guarantee: 8", "placement: {pools: [p, q]}", ("p", "order")),
        ("guarantee: 0, limit: 3", "guarantee: 0", "placement: {pools: [p, q]}", ("q", "limit")),
        ("guarantee: 8", "guarantee: 8", "placement: {pools: [q]}", ("q", "only")),
        ("guarantee: 8", "guarantee: 8", "placement: {nodeTypes: [q, p]}", ("q", "order")),
        ("guarantee: 8", "guarantee: 9", "placement: {nodeTypes: [a100-40gb]}", ("p", "name")),
    ],
)
def test_quotas_and_wishes_decide_between_equal_pools(planned, first, second, more, expected):
    team = quotas("a", f"pool: p, {first}", f"pool: q, {second}")
    fields = f"{ONE}, {more}" if more else ONE
    done = planned(a100(), a100("q"), team, models("a", m=fields))
    assert where(done) == {"m": expected}


def card(name, product, scheduler="kueue", more=""):
    return f"""
    apiVersion: policygen.dev/v1alpha1
    kind: ResourcePool
    metadata: {{name: {name}}}
    spec:
      nodeSelector: {{pool: {name}}}
      gpu: {{product: {product}, perNode: 8{more}}}
      capacity: {{totalGPUs: 64, nodeAllocatable: {{cpu: "96", memory: 1100Gi}}}}
      scheduler: {scheduler}
    """


PRODUCTS = {
    "large": "NVIDIA-H100-80GB-HBM3",
    "middle": "NVIDIA-A100-SXM4-40GB",
    "small": "NVIDIA-L4",
}
TEAM = quotas("a", *(f"pool: {name}, guarantee: 16" for name in PRODUCTS))


@pytest.mark.parametrize(
    "fields, expected",
    [
        # usable GiB of a card: 21.9, 39.5 and 79.1
        ("resources: {gpuMemory: 20Gi}", ("small", "memory")),
        ("resources: {gpuMemory: 30Gi}", ("middle", "memory")),
        ("resources: {gpuMemory: 43Gi}", ("small", "memory")),
        ("resources: {gpuMemory: 79.05Gi}", ("large", "memory")),
        # 16 cards of 24 GB are two nodes; one replica is on one node
        ("resources: {gpuMemory: 300Gi}", ("middle", "memory")),
        # the need is unknown: the cards with the least memory
        ("resources: {gpus: 2}", ("small", "memory")),
        # two L4 are too small for the weights of Llama 70B, and eight A100 are the nearest
        ("family: llama-3.1, size: 70b, resources: {gpus: 4}", ("middle", "memory")),
    ],
)
def test_the_least_unused_gpu_memory_decides(planned, fields, expected):
    pools = [card(name, product) for name, product in PRODUCTS.items()]
    done = planned(*pools, TEAM, models("a", m=fields))
    assert where(done) == {"m": expected}


def test_gpus_of_unknown_memory_come_after_known_ones(planned):
    unknown = card("aa", "NVIDIA-A100-SXM4-40GB").replace("product: NVIDIA-A100-SXM4-40GB, ", "")
    team = quotas("a", "pool: aa, guarantee: 8", "pool: q, guarantee: 8")
    done = planned(
        unknown, card("q", PRODUCTS["large"]), team, models("a", m="resources: {gpus: 1}")
    )
    assert where(done) == {"m": ("q", "memory")}


def test_a_shared_card_that_can_run_out_of_memory_comes_last(planned):
    sliced = card("aa", "NVIDIA-L4", more=", sharing: timeSlicing, replicas: 4")
    team = quotas("a", "pool: aa, guarantee: 8", "pool: q, guarantee: 8")
    both = (sliced, card("q", PRODUCTS["large"]), team)
    assert where(planned(*both, models("a", m="resources: {gpuMemory: 5Gi}")))["m"][0] == "aa"
    assert where(planned(*both, models("a", m="resources: {gpuMemory: 9Gi}")))["m"][0] == "q"


def test_a_gang_prefers_a_pool_that_starts_its_pods_together(planned):
    first = card("aa", "NVIDIA-L4", "kube-scheduler")
    second = card("q", PRODUCTS["large"], "volcano").replace(
        "perNode: 8", "perNode: 8, resource: x.com/gpu"
    )
    team = quotas("a", "pool: aa, guarantee: 8", "pool: q, limit: 8")
    done = planned(
        first,
        second,
        team,
        models("a", m="workload: training, resources: {gpus: 1}, gang: {size: 4}"),
    )
    assert where(done) == {"m": ("q", "gang")}
    alone = models("a", m="workload: training, resources: {gpus: 1}")
    assert where(planned(first, second, team, alone)) == {"m": ("aa", "guarantee")}


def test_schedulers_make_no_difference_and_are_named(planned):
    volcano = card("p", PRODUCTS["large"], "volcano")
    team = quotas("a", "pool: p, guarantee: 8", "pool: q, guarantee: 8")
    done = planned(
        volcano,
        card("q", PRODUCTS["middle"]),
        team,
        models("a", m="resources: {gpuMemory: 79.05Gi}"),
    )
    (found,) = messages(done, "model-placed")
    assert found == (
        'model "m" runs on pool "p" (volcano), because it leaves the least GPU memory unused (50.8 '
        'MiB for a replica); it also fits pool "q"'
    )


def test_a_model_without_a_team_goes_to_the_best_of_all_pools(planned):
    pools = [card(name, product) for name, product in PRODUCTS.items()]
    spec = planned(*pools, TEAM, models("a", m="resources: {gpuMemory: 30Gi}")).loaded.spec
    plan = compile_plan(replace(spec, models=(replace(spec.models[0], team=None),)))
    assert [it.facts.name for it in plan.workloads.assignments] == ["middle"]


SHARED = """
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {name: default}
    spec:
      sharedQueues: [{name: both, pools: [q, p]}]
"""


def test_a_shared_queue_keeps_the_order_of_its_flavors(planned):
    team = quotas("a", "pool: p, guarantee: 8", "pool: q, guarantee: 2")
    done = planned(SHARED, a100(), a100("q"), team, models("a", m=ONE))
    assert where(done) == {"m": ("q", "p", "only")}
    assert not done.plan.workloads.assignments[0].pinned
    # Eight of ten replicas run on p, the others on q.
    ten = models("a", m="resources: {gpuMemory: 13Gi}, replicas: 10")
    assert "serving-on-borrowed-gpus" not in planned(SHARED, a100(), a100("q"), team, ten).rules


def test_a_gang_in_a_shared_queue_needs_one_pool(planned):
    team = quotas("a", "pool: p, guarantee: 8, limit: 8", "pool: q, guarantee: 2, limit: 4")
    gang = "workload: training, resources: {gpuMemory: 13Gi}, gang: {size: %d}"
    for size, rules in ((8, []), (9, ["model-above-limit"])):
        done = planned(SHARED, a100(), a100("q"), team, models("a", m=gang % size))
        assert [it for it in done.rules if "limit" in it] == rules


def test_pods_that_fit_only_one_pool_of_a_shared_queue_are_pinned_to_it(planned):
    team = quotas("a", "pool: p, guarantee: 8", "pool: q, guarantee: 8")
    text = models("a", m="resources: {gpuMemory: 50Gi}")
    done = planned(SHARED, a100(), a100("q", "80GB"), team, text)
    # One GPU of q is too little on p, so the same pod cannot run on both.
    assert where(done) == {"m": ("q", "flavor")}
    (pods,) = done.plan.pods
    assert ("nodeSelector", "pool", "q") in {(it.owner, it.name, it.value) for it in pods.fields}


@pytest.mark.parametrize(
    "fields, quota, rule, words",
    [
        (
            "resources: {gpuMemory: 300Gi}",
            "pool: small, guarantee: 8",
            "team-without-share",
            'pools that it fits ("large" and "middle")',
        ),
        (
            "resources: {gpuMemory: 1000Gi}",
            "pool: small, guarantee: 8",
            "model-fits-no-pool",
            '("small": a replica needs 1000 GiB, but a node has 8 × 21.9 GiB, 825 GiB too few)',
        ),
        (
            "resources: {gpuMemory: 1000Gi}",
            "pool: small, guarantee: 8}, {pool: large, guarantee: 8",
            "model-fits-no-pool",
            '("large": a replica needs 1000 GiB, but a node has 8 × 79.1 GiB, 367.2 GiB too few; "small": ',
        ),
        (
            "resources: {gpuMemory: 100Gi}, placement: {pools: [small]}",
            "pool: small, guarantee: 8}, {pool: large, guarantee: 8",
            "model-placed",
            'runs on pool "small"',
        ),
        (
            "resources: {gpuMemory: 300Gi}, placement: {pools: [small]}",
            "pool: small, guarantee: 8}, {pool: large, guarantee: 8",
            "model-fits-no-pool",
            '("large": a replica fits, but placement does not name the pool; "small": ',
        ),
    ],
)
def test_a_model_without_a_pool_learns_why_for_each_pool_of_its_team(
    planned, fields, quota, rule, words
):
    pools = [card(name, product) for name, product in PRODUCTS.items()]
    done = planned(*pools, quotas("a", quota), models("a", m=fields))
    (found,) = messages(done, rule)
    assert words in found
    assert "middle" not in found or "middle" in words


def test_the_reason_nearest_to_running_comes_first(planned):
    spot = a100("spot", more="      provisioning: spot")
    team = quotas("a", "pool: p, guarantee: 8", "pool: spot, guarantee: 8")
    small = card("p", "NVIDIA-L4")
    done = planned(small, spot, team, models("a", m="resources: {gpuMemory: 200Gi}"))
    (found,) = messages(done, "only-preemptible-pools")
    assert found == (
        'model "m" is not rendered, because only preemptible pools are left for it ("spot": a '
        'replica fits, but the pool is preemptible; "p": a replica needs 200 GiB, but a node has 8 × '
        "21.9 GiB, 25 GiB too few); write toleratePreemptible: true, or allow another pool"
    )


def test_a_count_that_tensor_parallelism_does_not_allow_is_named(planned):
    six = a100().replace("perNode: 8", "perNode: 6").replace("totalGPUs: 64", "totalGPUs: 60")
    done = planned(
        six, quotas("a", "pool: p, guarantee: 8"), models("a", m="resources: {gpuMemory: 190Gi}")
    )
    (found,) = messages(done, "model-fits-no-pool")
    assert "a node has 6 GPUs, but a replica needs 8, because tensor parallelism" in found


def test_a_note_says_why_a_better_fitting_pool_is_not_chosen(planned):
    done = planned(
        *(a100("p"), a100("q"), card("r", "NVIDIA-L4")),
        quotas(
            "a", "pool: p, guarantee: 8", "pool: q, guarantee: 8", "pool: r, guarantee: 0, limit: 1"
        ),
        models("a", m=ONE),
    )
    (note,) = messages(done, "model-placed")
    assert note.endswith(
        'it also fits pool "q" and pool "r" (there the limit of the team is too low)'
    )


def test_models_with_the_same_answer_share_a_note(planned):
    pools = [a100(), card("q", "NVIDIA-L4")]
    both, one = (
        quotas("a", "pool: p, guarantee: 8", "pool: q, guarantee: 8"),
        quotas("b", "pool: p, guarantee: 8"),
    )
    done = planned(
        *pools, both, one, models("a", m1=ONE, m2=ONE, m3=ONE), models("b", m4=ONE, m5=ONE)
    )
    notes = [it for it in done.findings if it.rule.name == "model-placed"]
    assert [it.message for it in notes] == [
        (
            'models "m1", "m2" and "m3" run on pool "q" (kueue), because it leaves the least GPU memory '
            'unused (8.87 GiB for a replica); they also fit pool "p"'
        ),
        'models "m4" and "m5" run on pool "p" (kueue), because no other pool is possible',
    ]
    # The place is that of the first model, and the others are related.
    hits = [it for it in done.plan.hits if it.rule.name == "model-placed"]
    assert [len(it.related) for it in hits] == [2, 1]
    many = models("b", **{f"m{number}": ONE for number in range(10, 32)})
    (found,) = messages(planned(*pools, both, one, many), "model-placed")
    assert '"m29" and 2 more run on pool "p"' in found


def test_without_pools_a_node_type_needs_a_pool(planned, team):
    without = team("a", "guarantee: 8").replace("{pool: p, guarantee: 8}", "")
    (found,) = messages(
        planned(without, model("      placement: {nodeTypes: [l4]}")), "node-type-not-offered"
    )
    assert found.endswith('no pool offers node type "l4"; add a ResourcePool with such nodes')


def test_a_node_type_names_the_only_product(planned, team):
    done = planned(a100(), team("a", "guarantee: 8"), model("      placement: {nodeTypes: [l4]}"))
    (found,) = messages(done, "node-type-not-offered")
    assert found.endswith('no pool offers node type "l4"; write a100-40gb')


@pytest.mark.parametrize(
    "placement, message",
    [
        (
            "nodeTypes: [H1000]",
            'no pool offers node type "H1000"; did you mean "h100-80gb"?',
        ),
        (
            "nodeTypes: [l4, v100]",
            'model "m": no pool offers node type "v100"; write one of a100-40gb, h100-80gb, l4',
        ),
        (
            "nodeTypes: [v100, p100]",
            'no pool offers node types "v100" or "p100"; write one of a100-40gb, h100-80gb, l4',
        ),
        # A known product is no typing error of another.
        (
            "nodeTypes: [a100-80gb]",
            'no pool offers node type "a100-80gb"; write one of a100-40gb, h100-80gb, l4',
        ),
        (
            "nodeTypes: [l4], pools: [middle]",
            'no pool with node type "l4"; add "small" to placement.pools, or remove the node type',
        ),
    ],
)
def test_a_node_type_without_a_pool_is_reported_once(planned, placement, message):
    pools = [card(name, product) for name, product in PRODUCTS.items()]
    done = planned(*pools, TEAM, models("a", m=f"{ONE}, placement: {{{placement}}}"))
    (found,) = messages(done, "node-type-not-offered")
    assert found.endswith(message)
    assert ("is not rendered, because" in found) == (where(done) == {"m": ()})
    assert "model-fits-no-pool" not in done.rules


def test_a_pool_that_placement_names_is_nearer_than_one_that_a_model_does_not_fit_either(planned):
    text = models("a", m="resources: {gpus: 8, cpu: '150'}, placement: {pools: [p]}")
    large = a100("q").replace('cpu: "96"', 'cpu: "140"')
    team = quotas("a", "pool: p, guarantee: 8", "pool: q, guarantee: 8")
    (message,) = messages(planned(a100("p"), large, team, text), "model-fits-no-pool")
    assert message.index('"p": a replica needs 150 cores') < message.index('"q": a replica')


def test_a_fitting_pool_that_placement_omits_is_proposed_beside_one_without_quota(planned):
    text = models("a", m="resources: {gpus: 1}, placement: {pools: [q]}")
    done = planned(a100("p"), a100("q"), quotas("a", "pool: p, guarantee: 8"), text)
    (message,) = messages(done, "team-without-share")
    assert message.endswith(
        '; add pool "p" to its placement, or add one of these pools to the team\'s quotas'
    )
