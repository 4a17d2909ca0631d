"""Models in their teams' shares, with numbers worked out by hand."""

import pytest

from tests.plan.model_specs import a100, model


def test_many_pools_without_a_share_are_counted_and_not_listed(planned, team):
    pools = [a100(name) for name in ("p", "q1", "q2", "q3", "q4", "q5")]
    text = model("      placement: {pools: [q1, q2, q3, q4, q5]}")
    done = planned(*pools, team("a", "guarantee: 8"), text)
    [found] = [it.message for it in done.findings if it.rule.name == "team-without-share"]
    assert 'pools that it fits ("q1", "q2", "q3", "q4" and 1 more)' in found


@pytest.mark.parametrize(
    "quota, more, rule",
    [
        ("guarantee: 2, limit: 4", "autoscaling: {minReplicas: 5, maxReplicas: 6}", "model-above-limit"),
        ("guarantee: 2, limit: 4", "autoscaling: {minReplicas: 1, maxReplicas: 5}", "model-above-limit"),
        (
            "guarantee: 2, limit: 4",
            "autoscaling: {minReplicas: 3, maxReplicas: 4}",
            "serving-on-borrowed-gpus",
        ),
        ("guarantee: 2, limit: 4", "replicas: 5", "model-above-limit"),
    ],
)  # fmt: skip
def test_the_teams_share_must_hold_the_model(planned, team, quota, more, rule):
    assert rule in planned(a100(), team("a", quota), model(f"      {more}")).rules
    quiet = planned(a100(), team("a", "guarantee: 8"), model(f"      {more}"))
    assert rule not in quiet.rules


@pytest.mark.parametrize(
    "workload, more, told",
    [
        ("training", "replicas: 5", True),
        ("batch", "replicas: 5", False),
        ("training", "replicas: 2\n      gang: {size: 4}", True),
        ("batch", "replicas: 2\n      gang: {size: 4}", False),
        ("batch", "gang: {size: 5}", True),
        ("batch", "autoscaling: {minReplicas: 1, maxReplicas: 5}", True),
    ],
)
def test_jobs_of_a_batch_wait_for_each_other(planned, team, workload, more, told):
    text = model(f"      workload: {workload}\n      {more}")
    done = planned(a100(), team("a", "guarantee: 2, limit: 4"), text)
    assert ("model-above-limit" in done.rules) == told


def test_a_team_without_a_share_of_the_pool(planned, team):
    text = model("      placement: {pools: [q]}")
    done = planned(a100(), a100("q"), team("a", "guarantee: 8"), text)
    assert "team-without-share" in done.rules


@pytest.mark.parametrize(
    "limit, more, advice",
    [
        (
            4,
            "replicas: 5",
            "lower the model's replicas to 2, or raise limit and guarantee to 5 nvidia.com/gpu",
        ),
        (4, "replicas: 80", "lower the model's replicas to 2"),
        # The number is enough for the most replicas, too.
        (
            4,
            "autoscaling: {minReplicas: 5, maxReplicas: 7}",
            "lower the model's replicas, or raise the limit to 7 nvidia.com/gpu, and the guarantee to 5 nvidia.com/gpu",
        ),
        # Its least replicas are part of the sum of its team.
        (
            4,
            "autoscaling: {minReplicas: 2, maxReplicas: 7}",
            "lower the model's maxReplicas to 4, or raise the limit to 7 nvidia.com/gpu",
        ),
        (
            4,
            "gang: {size: 6}",
            "write gang.size: 4, which needs 4 nvidia.com/gpu, and raise the guarantee to 4, or raise limit and guarantee to 6 nvidia.com/gpu",
        ),
        (
            4,
            "gang: {size: 80}",
            "write gang.size: 4, which needs 4 nvidia.com/gpu, and raise the guarantee to 4",
        ),
    ],
)
def test_a_limit_is_proposed_only_if_the_pool_allows_it(planned, team, limit, more, advice):
    done = planned(a100(), team("a", f"guarantee: 2, limit: {limit}"), model(f"      {more}"))
    [message] = [it.message for it in done.findings if it.rule.name == "model-above-limit"]
    assert message.endswith(f"; {advice}")


def test_a_limit_that_holds_no_replica_is_raised_for_fewer_replicas(planned, team):
    """Lower replicas alone do not help; 60 of the 64 GPUs are guaranteed to another team."""
    other = team("b", "guarantee: 60")
    text = model("      replicas: 9\n      placement: {pools: [p]}", "gpus: 2")
    done = planned(a100(), team("a", "guarantee: 1, limit: 1"), other, text)
    (message,) = [it.message for it in done.findings if it.rule.name == "model-above-limit"]
    assert message.endswith(
        "; write replicas: 2, and raise limit and guarantee to 4 nvidia.com/gpu"
    )
    mended = planned(
        a100(),
        team("a", "guarantee: 4, limit: 4"),
        other,
        text.replace("replicas: 9", "replicas: 2"),
    )
    assert not [it for it in mended.findings if str(it.severity) != "info"]


def test_an_unknown_product_is_the_only_finding(planned, team):
    pool = a100().replace("NVIDIA-A100-SXM4-40GB", "NVIDIA-A101")
    done = planned(pool, team("a", "guarantee: 8"), model())
    assert [it.rule.name for it in done.findings if str(it.severity) != "info"] == [
        "unknown-product"
    ]
