"""The units of a pool: cards, MIG instances or replicas."""

import pytest

from tests.plan.quotas import quotas


def test_mixed_mig_is_counted_per_profile_and_slices(planned, team):
    mig = """
    apiVersion: policygen.dev/v1alpha1
    kind: ResourcePool
    metadata: {name: p}
    spec:
      nodeSelector: {pool: p}
      gpu:
        product: NVIDIA-A100-SXM4-40GB
        perNode: 8
        sharing: mig
        mig: {instances: {1g.5gb: 16, 3g.20gb: 8}}
      capacity: {totalGPUs: 8, nodeAllocatable: {cpu: "80", memory: 800Gi}}
    """
    done = planned(mig, team("a", "guarantee: {1g.5gb: 4, 3g.20gb: 2}, limit: {1g.5gb: 8}"))
    assert quotas(done.of("ClusterQueue")["a.p"]) == {
        # 4 × 1 + 2 × 3 = 10 of 16 + 24 = 40 slices: a quarter of 80 cores and 800Gi;
        # the limit has 8 + 24 = 32 slices, since it leaves 3g.20gb at what is available
        "cpu": ("20", "44", None),
        "memory": ("200Gi", "440Gi", None),
        "nvidia.com/mig-1g.5gb": ("4", "4", None),
        "nvidia.com/mig-3g.20gb": ("2", "6", None),
    }


def test_time_slicing_counts_replicas(planned, team):
    shared = """
    apiVersion: policygen.dev/v1alpha1
    kind: ResourcePool
    metadata: {name: p}
    spec:
      nodeSelector: {pool: p}
      gpu: {perNode: 4, memory: 24Gi, sharing: timeSlicing, replicas: 4,
            resource: nvidia.com/gpu.shared}
      capacity: {totalGPUs: 8, nodeAllocatable: {cpu: "32", memory: 128Gi}}
    """
    done = planned(shared, team("a", "guarantee: 16"))
    assert quotas(done.of("Cohort")["p"])["nvidia.com/gpu.shared"][0] == "16"  # 8 × 4 - 16
    assert quotas(done.of("ClusterQueue")["a.p"])["cpu"] == ("32", "32", None)


MIG = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {{name: p}}
spec:
  nodeSelector: {{pool: p}}
  gpu: {{product: {product}, perNode: 4, sharing: mig, mig: {{instances: {{{instances}}}}}}}
  capacity: {{totalGPUs: {cards}, nodeAllocatable: {{cpu: "48", memory: 400Gi}}}}
"""


def reported(planned, cards, instances, product="NVIDIA-A100-SXM4-40GB"):
    """The rule and the advice of each finding about the MIG instances of a pool."""
    done = planned(MIG.format(cards=cards, instances=instances, product=product))
    return [
        (it.rule.name, it.message.partition("; ")[2])
        for it in done.findings
        if it.rule.name.startswith(("mig-", "share-"))
    ]


@pytest.mark.parametrize(
    "cards, instances",
    [
        (8, "1g.5gb: 56"),
        (8, "4g.20gb: 8, 3g.20gb: 8"),
        (8, "1g.5gb: 16, 2g.10gb: 8, 3g.20gb: 8"),
        (8, "7g.40gb: 5"),
        (1, "3g.20gb: 1"),
        (4, "3g.20gb: 5"),
    ],
)
def test_instances_that_need_more_than_half_of_the_cards_are_sound(planned, cards, instances):
    assert reported(planned, cards, instances) == []


@pytest.mark.parametrize(
    "cards, instances, advice",
    [
        (4, "1g.5gb: 7", "if every card has these instances, write 1g.5gb: 28"),
        (
            8,
            "3g.20gb: 8",
            "if every node has these instances, write 3g.20gb: 16",
        ),
        (4, "3g.20gb: 4", "raise the numbers, or lower the number of GPUs in capacity"),
        (12, "3g.20gb: 12", "raise the numbers, or lower the number of GPUs in capacity"),
    ],
)
def test_instances_on_half_of_the_cards_are_those_of_a_card_or_node(
    planned, cards, instances, advice
):
    assert reported(planned, cards, instances) == [("mig-instances-few", advice)]


def test_the_advice_lowers_the_profile_that_loses_least(planned):
    assert reported(planned, 8, "7g.40gb: 4, 4g.20gb: 5, 1g.5gb: 8") == [
        (
            "mig-instances-exceed-cards",
            "beside 8 × 1g.5gb and 4 × 7g.40gb they hold 4 × 4g.20gb; lower 4g.20gb to 4, or use 9 cards",
        )
    ]


def test_several_profiles_too_many_are_lowered_together(planned):
    """Only one instance of a card can own the optical flow engine."""
    instances = "1g.24gb+me: 2, 1g.24gb+me.all: 2, 2g.48gb+me.all: 2"
    product = "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition"
    assert reported(planned, 2, instances, product) == [
        ("mig-instances-exceed-cards", "lower the numbers in mig.instances, or use 6 cards")
    ]


def test_a_share_above_a_node_is_the_only_finding(planned):
    assert [rule for rule, _ in reported(planned, 64, "7g.40gb: 1")] == ["share-exceeds-node"]


def test_an_unknown_product_has_seven_slices(planned):
    done = planned(
        MIG.format(cards=8, instances="1g.9gb: 57", product="x").replace(
            "product: x", "memory: 9Gi"
        )
    )
    [message] = [it.message for it in done.findings if it.rule.name == "mig-instances-unlikely"]
    assert "57 instances of MIG profile 1g.9gb, but 8 cards can have only 56" in message


@pytest.mark.parametrize(
    "instances, advice",
    [
        ("3g.20gb: 9, 2g.10gb: 2", "lower 3g.20gb to 7, which fit beside 2 × 2g.10gb"),
        ("3g.20gb: 9", "lower the number of instances"),
    ],
)
def test_a_number_above_all_cards_is_lowered_beside_the_other_profiles(planned, instances, advice):
    assert reported(planned, 4, instances) == [("mig-instances-exceed-cards", advice)]
    if "beside" in advice:
        assert reported(planned, 4, instances.replace("9", "7")) == []
