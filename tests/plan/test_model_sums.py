"""Models together against limits, guarantees and pools, with numbers worked out by hand."""

import pytest

from tests.plan.model_specs import a100, messages, models, quotas, where

SUMS = {
    "models-exceed-limit",
    "peak-exceeds-limit",
    "serving-on-borrowed-gpus",
    "model-above-limit",
}
FOUR = "resources: {gpus: 1}, replicas: 4"


def serving(count):
    return f"resources: {{gpus: 1}}, replicas: {count}"


def training(pods):
    return f"workload: training, resources: {{gpus: 1}}, gang: {{size: {pods}}}"


def scaled(least, most):
    return f"resources: {{gpus: 1}}, autoscaling: {{minReplicas: {least}, maxReplicas: {most}}}"


def found(done):
    return sorted(it for it in done.rules if it in SUMS)


@pytest.mark.parametrize(
    "quota, fields, expected",
    [
        ("guarantee: 8", (serving(4), serving(4)), []),
        ("guarantee: 7, limit: 8", (serving(4), serving(4)), ["serving-on-borrowed-gpus"]),
        ("guarantee: 7, limit: 7", (serving(4), serving(4)), ["models-exceed-limit"]),
        # What is borrowed is shown also if the limit is too low, so that no remedy brings it up.
        (
            "guarantee: 2, limit: 8",
            (serving(6), serving(3)),
            ["models-exceed-limit", "serving-on-borrowed-gpus"],
        ),
        (
            "guarantee: 2, limit: 7",
            (serving(8),),
            ["model-above-limit"],
        ),
        # A model that never fits has its own finding, and the others are not blamed for it.
        ("guarantee: 7, limit: 7", (serving(8), serving(4)), ["model-above-limit"]),
        (
            "guarantee: 7, limit: 7",
            (serving(8), serving(4), serving(4)),
            ["model-above-limit", "models-exceed-limit"],
        ),
        # Jobs that wait for each other are only a note, but a job never starts beside serving.
        ("guarantee: 8, limit: 8", (training(8), training(4)), ["peak-exceeds-limit"]),
        ("guarantee: 8, limit: 8", (serving(4), training(4)), []),
        ("guarantee: 8, limit: 8", (serving(4), training(5)), ["models-exceed-limit"]),
        ("guarantee: 4, limit: 8", (serving(4), training(4)), []),
        # at most replicas
        ("guarantee: 8, limit: 8", (scaled(2, 4), scaled(2, 4)), []),
        ("guarantee: 8, limit: 8", (scaled(2, 5), scaled(2, 4)), ["peak-exceeds-limit"]),
        ("guarantee: 8, limit: 8", (scaled(2, 9), scaled(2, 4)), ["model-above-limit"]),
        ("guarantee: 8, limit: 8", (scaled(2, 9), scaled(5, 9)), ["model-above-limit"] * 2),
    ],
)
def test_models_of_a_team(planned, quota, fields, expected):
    text = models("a", **{f"m{index}": it for index, it in enumerate(fields)})
    done = planned(a100(), quotas("a", f"pool: p, {quota}"), text)
    assert found(done) == expected


def test_the_numbers_of_each_part_and_of_the_change(planned):
    text = models("a", chat="resources: {gpus: 8}, replicas: 4", embed=serving(8))
    done = planned(a100(), quotas("a", "pool: p, guarantee: 32, limit: 32"), text)
    (message,) = messages(done, "models-exceed-limit")
    assert message == (
        'the models of team "a" on pool "p" need at least 40 nvidia.com/gpu together (chat 4 × 8, '
        'embed 8 × 1), but the limit of team "a" is 32 nvidia.com/gpu, 8 nvidia.com/gpu too few, so '
        "they never all run at once; raise the limit by 8 nvidia.com/gpu, and raise the guarantee by 8 "
        "nvidia.com/gpu, or lower the replicas"
    )


def test_a_pool_with_room_is_named(planned):
    team = quotas(
        "a", "pool: p, guarantee: 8, limit: 8", "pool: q, guarantee: {}".replace("{}", "4")
    )
    text = models("a", chat=FOUR, embed=FOUR, more="resources: {gpus: 1}, replicas: 2")
    done = planned(a100(), a100("q"), team, text)
    assert set(where(done).values()) == {("p", "name")}
    (message,) = messages(done, "models-exceed-limit")
    assert message.endswith(
        "raise the limit by 2 nvidia.com/gpu, and raise the guarantee by 2 nvidia.com/gpu, or write "
        'placement.pools: [q] for model "more", because'
        " that pool has room for it"
    )
    moved = models(
        "a",
        chat=FOUR,
        embed=FOUR,
        more="resources: {gpus: 1}, replicas: 2, placement: {pools: [q]}",
    )
    assert found(planned(a100(), a100("q"), team, moved)) == []


@pytest.mark.parametrize("guarantee, named", [(2, True), (1, False)])
def test_a_pool_whose_guarantee_is_used_up_has_no_room(planned, guarantee, named):
    team = quotas("a", "pool: p, guarantee: 4, limit: 4", f"pool: q, guarantee: {guarantee}")
    text = models("a", chat="resources: {gpus: 1}, replicas: 3", embed=serving(2))
    (message,) = messages(planned(a100(), a100("q"), team, text), "models-exceed-limit")
    assert ("placement.pools: [q]" in message) == named


PARENT = """
    apiVersion: policygen.dev/v1alpha1
    kind: Team
    metadata: {name: all}
    spec: {quotas: [{pool: p, guarantee: 8, limit: 8}]}
"""


def child(name, quota):
    return quotas(name, f"pool: p, {quota}", more=", parent: all")


def test_teams_together_exceed_their_parent_once(planned):
    text = (models("a", m=serving(4)), models("b", s=serving(5)))
    done = planned(a100(), PARENT, child("a", "guarantee: 4"), child("b", "guarantee: 4"), *text)
    assert found(done) == ["models-exceed-limit", "serving-on-borrowed-gpus"]
    (message,) = messages(done, "models-exceed-limit")
    assert 'team "all" and its child teams on pool "p" need at least 9 nvidia.com/gpu' in message
    assert "(team a 4, team b 5)" in message
    assert "raise the limit by 1 nvidia.com/gpu" in message


def test_what_a_team_reports_is_not_reported_by_its_parent_or_the_pool(planned):
    limited = child("b", "guarantee: 4, limit: 4")
    text = (models("a", m=serving(4)), models("b", s=serving(4), w=serving(4)))
    done = planned(a100(), PARENT, child("a", "guarantee: 4"), limited, *text)
    assert found(done) == ["models-exceed-limit"]
    (message,) = messages(done, "models-exceed-limit")
    assert message.startswith('the models of team "b" on pool "p" need at least 8')


def test_teams_together_exceed_the_pool(planned):
    teams = [quotas(name, "pool: p, guarantee: 20") for name in "abc"]
    text = [models(name, **{f"m-{name}": "resources: {gpus: 8}, replicas: 3"}) for name in "abc"]
    done = planned(a100(), *teams, *text)
    assert found(done) == ["models-exceed-limit", *["serving-on-borrowed-gpus"] * 3]
    (message,) = messages(done, "models-exceed-limit")
    assert message == (
        'the models of all teams on pool "p" need at least 72 nvidia.com/gpu together (team a 24, '
        "team b 24, team c 24), but its capacity is 64 nvidia.com/gpu, 8 nvidia.com/gpu too few, so "
        "they never all run at once; lower the replicas"
    )


@pytest.mark.parametrize(
    ("limit", "fields", "used"),
    [
        (12, serving(16), 12),
        (12, "resources: {gpus: 8}, replicas: 4", 8),
        (7, "resources: {gpus: 8}, replicas: 4", 0),
        (12, training(16), 0),
    ],
)
def test_a_model_above_its_limit_counts_on_the_pool_with_what_fits(planned, limit, fields, used):
    """Some replicas run, and take the room of other teams; a gang never starts."""
    team = quotas("a", f"pool: p, guarantee: 0, limit: {limit}")
    for more in (0, 1) if used else (0,):
        other = models("b", s=serving(64 - used + more))
        done = planned(
            a100(), team, quotas("b", "pool: p, guarantee: 52"), models("a", m=fields), other
        )
        assert "model-above-limit" in done.rules
        found = messages(done, "models-exceed-limit")
        assert len(found) == more
        assert all(f"(team a {used}, team b {65 - used})" in it for it in found)


def test_the_model_that_cannot_start_is_named_at_the_pool(planned):
    teams = [quotas(name, "pool: p, guarantee: 32") for name in "ab"]
    text = [models("a", chat="resources: {gpus: 8}, replicas: 4"), models("b", train=training(33))]
    done = planned(a100(), *teams, *text)
    (message,) = messages(done, "models-exceed-limit")
    assert message == (
        'the models of all teams on pool "p" need at least 65 nvidia.com/gpu together (team a 32, and '
        "train of team b 33 nvidia.com/gpu to start), but its capacity is 64 nvidia.com/gpu, 1 "
        "nvidia.com/gpu too few, so train of team b cannot start beside the serving models; lower the "
        "replicas"
    )


def test_every_model_that_cannot_start_is_named(planned):
    teams = [quotas(name, "pool: p, guarantee: 32") for name in "ab"]
    chat = models("a", chat="resources: {gpus: 8}, replicas: 7")
    text = models("b", small=training(8), large=training(12), other=training(10))
    (message,) = messages(planned(a100(), *teams, chat, text), "models-exceed-limit")
    assert "so large of team b, other of team b cannot start beside the serving models; " in message


def test_a_guarantee_that_is_not_lent_counts_as_used(planned):
    policy = "      schedulingPolicy: {preemptionEnabled: false}"
    teams = (quotas("a", "pool: p, guarantee: 40"), quotas("b", "pool: p, guarantee: 8"))
    text = models("b", m="resources: {gpus: 8}, replicas: 4")
    assert found(planned(a100(), *teams, text)) == ["serving-on-borrowed-gpus"]
    done = planned(a100(more=policy), *teams, text)
    assert found(done) == ["models-exceed-limit"]
    (message,) = messages(done, "models-exceed-limit")
    assert "(team a 40 (its guarantee), team b 32)" in message


@pytest.mark.parametrize("cpu, expected", [(12, []), (13, ["models-exceed-limit"])])
def test_cpu_counts_where_models_state_it(planned, cpu, expected):
    # 96 cores for 8 GPUs: 12 for each GPU of the limit
    one = f"resources: {{gpus: 1, cpu: {cpu}}}, replicas: 4"
    done = planned(
        a100(), quotas("a", "pool: p, guarantee: 8, limit: 8"), models("a", m=one, s=one)
    )
    assert found(done) == expected
    for message in messages(done, "models-exceed-limit"):
        assert "need at least 104 cores together (m 4 × 13 cores, s 4 × 13 cores)" in message


def test_cpu_is_not_reported_beside_gpus(planned):
    one = "resources: {gpus: 1, cpu: 13}, replicas: 4"
    team = quotas("a", "pool: p, guarantee: 7, limit: 7")
    (message,) = messages(planned(a100(), team, models("a", m=one, s=one)), "models-exceed-limit")
    assert "nvidia.com/gpu" in message


MIG = """
    apiVersion: policygen.dev/v1alpha1
    kind: ResourcePool
    metadata: {name: p}
    spec:
      nodeSelector: {pool: p}
      gpu:
        product: NVIDIA-A100-SXM4-40GB
        perNode: 8
        sharing: mig
        mig: {instances: {1g.5gb: 28, 3g.20gb: 4}}
      capacity: {nodes: 1, nodeAllocatable: {cpu: "96", memory: 1100Gi}}
"""


def test_each_mig_profile_is_a_sum_of_its_own(planned):
    team = quotas(
        "a", "pool: p, guarantee: {1g.5gb: 8, 3g.20gb: 2}, limit: {1g.5gb: 8, 3g.20gb: 2}"
    )
    small, large = "resources: {gpuMemory: 4Gi}", "resources: {gpuMemory: 16Gi}"
    text = models(
        "a", m=f"{small}, replicas: 5", s=f"{small}, replicas: 4", w=f"{large}, replicas: 2"
    )
    done = planned(MIG, team, text)
    (message,) = messages(done, "models-exceed-limit")
    assert "at least 9 nvidia.com/mig-1g.5gb together (m 5 × 1, s 4 × 1)" in message


def test_each_namespace_of_kube_scheduler_has_its_part(planned):
    pool = a100(more="      scheduler: kube-scheduler")
    team = quotas("a", "pool: p, guarantee: 0, limit: 16").replace(
        "{name: a-ns}", "{name: x}, {name: z}"
    )
    there = f"{FOUR}, namespace: z"
    fits = models("a", m=FOUR, s=FOUR, w=there, q=there)
    assert found(planned(pool, team, fits)) == []
    done = planned(pool, team, models("a", m=FOUR, s=FOUR, w=FOUR))
    (message,) = messages(done, "models-exceed-limit")
    assert 'but the part of namespace "x" in the limit of team "a" is 8 nvidia.com/gpu' in message


def test_serving_models_above_the_guarantee_together_are_one_finding(planned):
    text = models("a", m=serving(6), s=serving(4), w=training(16))
    done = planned(a100(), quotas("a", "pool: p, guarantee: 8"), text)
    (message,) = messages(done, "serving-on-borrowed-gpus")
    assert message == (
        'the serving models of team "a" on pool "p" need at least 10 nvidia.com/gpu together (m 6 × '
        "1, s 4 × 1), but the guarantee is 8, so other teams can reclaim the rest at any time; raise "
        "the guarantee by 2 nvidia.com/gpu, or lower the replicas"
    )


@pytest.mark.parametrize(
    "weight, expected",
    [
        # 64 GPUs, of which b has 40: the two teams divide 16 by weight
        (3, ""),  # deserves 8 + 12
        (1, "deserves only 16 on pool"),
    ],
)
def test_volcano_reclaims_nothing_that_a_team_deserves(planned, weight, expected):
    pool = a100(more="      scheduler: volcano")
    teams = (
        quotas("a", f"pool: p, guarantee: 8, weight: {weight}"),
        quotas("b", "pool: p, guarantee: 40"),
    )
    text = models("a", m=serving(20))
    done = planned(pool, *teams, text)
    assert [expected in it for it in messages(done, "serving-on-borrowed-gpus")] == [
        True for _ in range(bool(expected))
    ]
    kueue = planned(a100(), *teams, text)
    (message,) = messages(kueue, "serving-on-borrowed-gpus")
    assert "has the guarantee 8" in message


def test_a_higher_guarantee_that_takes_what_another_team_deserves_is_not_proposed(planned):
    pool = a100(more="      scheduler: volcano")
    teams = (
        quotas("a", "pool: p, guarantee: 8"),
        quotas("b", "pool: p, guarantee: 8"),
        quotas("c", "pool: p, guarantee: 32"),
    )
    alone = models("a", m=serving(16))
    (message,) = messages(planned(pool, *teams, alone), "serving-on-borrowed-gpus")
    assert "raise the guarantee by 8" in message
    # With a guarantee of 16 for a, team b deserves 8 + 3 instead of 8 + 5.
    both = planned(pool, *teams, alone, models("b", s=serving(13)))
    (message,) = messages(both, "serving-on-borrowed-gpus")
    assert "raise the guarantee" not in message


def test_a_guarantee_that_cannot_grow_is_not_proposed(planned):
    teams = (quotas("a", "pool: p, guarantee: 8"), quotas("b", "pool: p, guarantee: 55"))
    text = models("a", m=serving(6), s=serving(4))
    (message,) = messages(planned(a100(), *teams, text), "serving-on-borrowed-gpus")
    assert message.endswith("at any time; lower the replicas")
    single = models("a", **dict.fromkeys("ms", "resources: {gpus: 5}, replicas: 1"))
    (message,) = messages(planned(a100(), *teams, single), "serving-on-borrowed-gpus")
    raised = "lower the guarantees of other teams, and raise this one to 10 nvidia.com/gpu"
    assert message.endswith(f"at any time; {raised}, or make the replicas smaller")


def test_nothing_is_reclaimed_without_preemption(planned):
    pool = a100(more="      schedulingPolicy: {preemptionEnabled: false}")
    text = models("a", m=serving(6), s=serving(4))
    assert found(planned(pool, quotas("a", "pool: p, guarantee: 8"), text)) == []


@pytest.mark.parametrize(
    "guarantee, more, expected",
    [
        # 64 GPUs, of which b has 40: the two teams divide the rest by weight
        (8, training(16), []),  # deserves 8 + 8
        (8, training(17), ["gang-on-borrowed-gpus"]),
        (16, f"{training(17)}, replicas: 3", []),
        (8, f"workload: training, {serving(17)}", []),
        (8, f"{FOUR}, gang: {{size: 5}}", []),  # serving-on-borrowed-gpus
    ],
)
def test_a_gang_of_volcano_above_what_its_team_deserves(planned, guarantee, more, expected):
    pool = a100(more="      scheduler: volcano")
    teams = (quotas("a", f"pool: p, guarantee: {guarantee}"), quotas("b", "pool: p, guarantee: 40"))
    done = planned(pool, *teams, models("a", m=more))
    assert [it for it in done.rules if it == "gang-on-borrowed-gpus"] == expected
    unlent = a100(
        more="      scheduler: volcano\n      schedulingPolicy: {preemptionEnabled: false}"
    )
    done = planned(unlent, *teams, models("a", m=more))
    assert "gang-on-borrowed-gpus" not in done.rules


@pytest.mark.parametrize(
    "free, words",
    [
        (24, "raise the guarantee by 9 nvidia.com/gpu"),
        (8, "raise this one to 17 nvidia.com/gpu, or write gang.size: "),
    ],
)
def test_a_guarantee_for_a_gang_is_proposed_only_if_it_is_possible(planned, free, words):
    pool = a100(more="      scheduler: volcano")
    teams = (
        quotas("a", "pool: p, guarantee: 8"),
        quotas("b", f"pool: p, guarantee: {56 - free}"),
        quotas("c", "pool: p, guarantee: 0, weight: 9"),
    )
    (message,) = messages(
        planned(pool, *teams, models("a", m=training(17))), "gang-on-borrowed-gpus"
    )
    assert words in message


def test_lower_replicas_are_proposed_only_if_they_make_room(planned):
    pool, team = a100(), quotas("a", "pool: p, guarantee: 64, limit: 64")
    text = models("a", m=serving(4), t=training(64))
    (message,) = messages(planned(pool, team, text), "models-exceed-limit")
    assert message.endswith("; remove a model, or make the replicas smaller")
    text = models("a", m=serving(4), t=training(63))
    (message,) = messages(planned(pool, team, text), "models-exceed-limit")
    assert message.endswith("; lower the replicas")


SHARED = """
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {name: default}
    spec: {sharedQueues: [{name: both, pools: [q, p]}]}
"""


@pytest.mark.parametrize(
    "sizes, quota, where_to",
    [
        (("13Gi", "13Gi"), "limit: 4", 'shared queue "both"'),
        # Two models run only on q, where one GPU has enough memory.
        (("50Gi", "50Gi"), "limit: 8", 'pool "q"'),
        (("13Gi", "50Gi"), "limit: 8", None),
    ],
)
def test_models_of_a_shared_queue_have_the_sum_of_its_pools(planned, sizes, quota, where_to):
    team = quotas("a", f"pool: p, guarantee: 4, {quota}", f"pool: q, guarantee: 4, {quota}")
    first, second = (
        f"resources: {{gpuMemory: {size}}}, replicas: {count}"
        for size, count in zip(sizes, (4, 5), strict=True)
    )
    done = planned(SHARED, a100(), a100("q", "80GB"), team, models("a", first=first, second=second))
    found = messages(done, "models-exceed-limit")
    assert len(found) == (where_to is not None)
    assert all(f'the models of team "a" on {where_to} need at least 9' in it for it in found)


@pytest.mark.parametrize(
    "fields, limit, named",
    [
        (FOUR, 4, True),
        (FOUR, 7, False),  # four for the first namespace, three for the second
        (training(4), 4, False),  # kube-scheduler starts pods one by one
    ],
)
def test_room_in_a_pool_of_kube_scheduler(planned, fields, limit, named):
    other = a100("q", more="      scheduler: kube-scheduler", gpu=", resource: x.com/gpu")
    team = quotas("a", "pool: p, guarantee: 4, limit: 4", f"pool: q, limit: {limit}")
    if limit == 7:
        team = team.replace("{name: a-ns}", "{name: x}, {name: z}")
        fields += ", namespace: z"
    text = models(
        "a",
        chat=f"{FOUR}, placement: {{pools: [p]}}",
        other=f"{fields}, placement: {{pools: [p, q]}}",
    )
    (message,) = messages(planned(a100(), other, team, text), "models-exceed-limit")
    assert ("placement.pools: [q]" in message) == named


def test_replicas_of_a_batch_are_jobs_that_can_run_at_one_time(planned):
    team = quotas("a", "pool: p, guarantee: 8, limit: 8")
    batch = "workload: batch, resources: {gpus: 1}, replicas: %d"
    done = planned(a100(), team, models("a", m=batch % 5, s=serving(4)))
    assert found(done) == ["peak-exceeds-limit"]
    assert "(m 5 × 1, s 4 × 1)" in messages(done, "peak-exceeds-limit")[0]
    assert found(planned(a100(), team, models("a", m=batch % 4, s=serving(4)))) == []
    # Alone, jobs above the limit wait for each other.
    assert found(planned(a100(), team, models("a", m=batch % 9))) == []


def test_a_model_without_room_in_its_team_may_have_none_on_the_pool_either(planned):
    """Without the models of team a, the gang of 12 has room in its team, but not beside team b."""
    team_a = quotas("a", "pool: p, guarantee: 12, limit: 12")
    others = [quotas("b", "pool: p, guarantee: 4, limit: 8"), models("b", other=serving(8))]
    large = a100().replace("totalGPUs: 64", "totalGPUs: 16")
    both = planned(large, team_a, models("a", chat=serving(4), gang=training(12)), *others)
    texts = [it.message for it in both.findings if it.rule.name == "models-exceed-limit"]
    assert len(texts) == 2
    assert "(team b 8, and gang of team a 12 nvidia.com/gpu to start)" in texts[0]
    assert "(chat 4 × 1, and gang 12 nvidia.com/gpu to start)" in texts[1]
    alone = planned(large, team_a, models("a", gang=training(12)), *others)
    assert [it for it in alone.rules if it == "models-exceed-limit"] == ["models-exceed-limit"]
    small = [others[0], models("b", other=serving(4))]
    own = planned(large, team_a, models("a", chat=serving(4), gang=training(12)), *small)
    assert [it for it in own.rules if it == "models-exceed-limit"] == ["models-exceed-limit"]


def test_child_teams_without_a_common_quota_share_the_pool(planned):
    """kube-scheduler enforces no limit of a parent, so only the capacity bounds its child teams."""
    pool = a100(more="      scheduler: kube-scheduler").replace("totalGPUs: 64", "totalGPUs: 16")
    parent = quotas("all", "pool: p, guarantee: 16, limit: 16").replace(
        "namespaces: [{name: all-ns}], ", ""
    )
    children = [quotas(it, "pool: p, guarantee: 0, limit: 10", more=", parent: all") for it in "ab"]
    done = planned(pool, parent, *children, models("a", m=serving(9)), models("b", chat=serving(9)))
    [text] = [it.message for it in done.findings if it.rule.name == "models-exceed-limit"]
    assert "need at least 18 nvidia.com/gpu together (team all 18), but its capacity is 16" in text


def test_other_teams_keep_their_guarantees_if_the_pool_has_room(planned):
    teams = (quotas("a", "pool: p, guarantee: 0, limit: 4"), quotas("b", "pool: p, guarantee: {}"))
    text = models("a", m="resources: {gpus: 6}, replicas: 1")
    for guarantee, advice in (
        (12, "raise limit and guarantee to"),
        (60, "lower the guarantees of other teams"),
    ):
        done = planned(a100(), teams[0], teams[1].replace("{}", f"{guarantee}"), text)
        (message,) = messages(done, "serving-on-borrowed-gpus")
        assert f"; {advice}" in message
