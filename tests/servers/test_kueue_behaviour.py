"""Under Kueue a team gets its guarantee, up to its limit, and gives back what it borrowed."""

from collections import defaultdict
from fractions import Fraction

import pytest

from policygen.core.quantity import parse
from tests.servers.cluster import KUEUE
from tests.servers.rendering import rendered
from tests.servers.scenes import ONE, held, jobs, messages, ready
from tests.servers.specs import model, platform, pool, share, team
from tests.servers.workloads import GPU, Ask, job

WHOLE = Ask(gpus=1, cpu="12", memory="96Gi")
"""A GPU with all the cpu and memory that come along."""

NO_SELECTOR = "workload namespace doesn't match ClusterQueue selector"


def charged(cluster, queue):
    """What a ClusterQueue counts as in use: cpu, bytes, GPUs."""
    status = cluster.get(KUEUE, "ClusterQueue", queue).get("status", {})
    [flavor] = status.get("flavorsReservation") or [{"resources": []}]
    used = {each["name"]: parse(str(each["total"])).value for each in flavor["resources"]}
    return tuple(used.get(name) for name in ("cpu", "memory", GPU))


def test_quotas_of_a_tree_sum_to_the_pool_and_its_last_gpu_can_be_used(cluster):
    """20 GPUs with 240 cores and 1920Gi: 9 + 5 promised, 6 at the root."""
    ready(
        cluster,
        platform(),
        pool(gpus=20),
        team("language", share(guarantee=9)),
        team("training", share(guarantee=4), parent="language"),
        team("evaluation", share(guarantee=2), parent="language"),
        team("vision", share(guarantee=5, limit=16)),
    )
    sums = defaultdict(Fraction)
    for kind in ("ClusterQueue", "Cohort"):
        for thing in cluster.objects(KUEUE, kind):
            for quota in thing["spec"]["resourceGroups"][0]["flavors"][0]["resources"]:
                sums[quota["name"]] += parse(str(quota["nominalQuota"])).value
    assert sums == {"cpu": 240, "memory": 1920 * 2**30, GPU: 20}
    everybody = {"language": 3, "training": 4, "evaluation": 2, "vision": 5}
    for name, count in everybody.items():
        cluster.create(*jobs(name, count, WHOLE))
    cluster.becomes("guarantees", lambda: held(cluster, *everybody), [3, 4, 2, 5])
    cluster.create(*jobs("vision", 7, WHOLE, prefix="more"))
    cluster.becomes("with the root's", lambda: held(cluster, *everybody), [3, 4, 2, 11])
    cluster.becomes("nodes", lambda: sorted(cluster.placement().values()), [4, 8, 8])
    cluster.stays("admitted", lambda: sum(held(cluster, *everybody)), 20, for_s=1)


@pytest.mark.parametrize("limit, most", [(4, 4), (9, 9), (None, 10)])
def test_a_team_borrows_up_to_its_limit_and_not_one_gpu_more(cluster, limit, most):
    """12 GPUs, of which vision borrows 2 first: 10 are left, 4 of them guaranteed."""
    bound = {} if limit is None else {"limit": limit}
    ready(
        cluster,
        pool(gpus=12),
        team("nlp", share(guarantee=4, **bound)),
        team("vision", share(guarantee=0, limit=2)),
    )
    cluster.create(*jobs("vision", 3))
    cluster.becomes("vision's", lambda: held(cluster, "vision"), [2])
    cluster.create(*jobs("nlp", 12))
    cluster.becomes("nlp's", lambda: held(cluster, "nlp"), [most])
    cluster.stays("nlp's", lambda: held(cluster, "nlp"), [most], for_s=1)
    cluster.becomes("GPUs in use", cluster.bound, 2 + most)


@pytest.mark.parametrize("omitted, most", [({}, 8), ({"3g.40gb": 0}, 0)])
def test_a_limit_that_omits_a_profile_does_not_limit_it(cluster, omitted, most):
    """limit-omits-profiles: 2 of the small instances, but all of the large ones that the pool has."""
    small, large = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
    gpu = {
        "product": "NVIDIA-A100-SXM4-80GB",
        "sharing": "mig",
        "mig": {"instances": {"1g.10gb": 8, "3g.40gb": 8}},
    }
    out = ready(cluster, pool(gpu=gpu), team("nlp", share(limit={"1g.10gb": 2, **omitted})))
    assert found_by(out, "limit-omits-profiles") == (not omitted)
    cluster.create(*jobs("nlp", 4, Ask(gpus=1, resource=small), prefix="small"))
    cluster.create(*jobs("nlp", 9, Ask(gpus=1, resource=large), prefix="large"))
    cluster.becomes("small", lambda: cluster.bound("nlp", small), 2)
    cluster.becomes("large", lambda: cluster.bound("nlp", large), most)
    cluster.stays("small", lambda: cluster.bound("nlp", small), 2, for_s=1)
    assert cluster.bound("nlp", large) == most


def test_models_that_exceed_the_limit_together_never_all_run(cluster):
    """The numbers of models-exceed-limit: so many replicas wait, and so many more GPUs start them."""
    models = [
        model(name, "nlp", resources={"gpus": 1}, replicas=count)
        for name, count in {"chat": 4, "embed": 5}.items()
    ]
    spec = (pool(gpus=16), *models)
    out = ready(cluster, *spec, team("nlp", share(guarantee=8, limit=8)))
    [found] = [it.message for it in out.findings if it.rule.name == "models-exceed-limit"]
    assert "at least 9 nvidia.com/gpu" in found
    assert "raise the limit by 1 nvidia.com/gpu" in found
    cluster.create(*jobs("nlp", 4, prefix="chat"), *jobs("nlp", 5, prefix="embed"))
    cluster.becomes("all but one", lambda: held(cluster, "nlp"), [8])
    cluster.stays("all but one", lambda: held(cluster, "nlp"), [8], for_s=1)
    raised = rendered((*spec, team("nlp", share(guarantee=8, limit=9))))
    assert "models-exceed-limit" not in {it.rule.name for it in raised.findings}
    cluster.apply(raised.text)
    cluster.becomes("all", lambda: held(cluster, "nlp"), [9])


def test_a_job_that_needs_more_than_serving_leaves_never_starts(cluster):
    documents = (
        pool(gpus=16),
        team("nlp", share(guarantee=8, limit=8)),
        model("chat", "nlp", resources={"gpus": 1}, replicas=4),
        model("tune", "nlp", workload="training", resources={"gpus": 1}, gang={"size": 5}),
    )
    out = ready(cluster, *documents)
    [found] = [it.message for it in out.findings if it.rule.name == "models-exceed-limit"]
    assert "tune cannot start beside the serving models" in found
    cluster.create(*jobs("nlp", 4, prefix="chat"))
    cluster.becomes("serving", lambda: held(cluster, "nlp"), [4])
    cluster.create(job("tune", "nlp", ONE, pods=5, queue="a100"))
    cluster.stays("only serving", lambda: held(cluster, "nlp"), [4], for_s=2)
    cluster.create(job("fits", "nlp", ONE, pods=4, queue="a100"))
    cluster.becomes("a smaller job starts", lambda: held(cluster, "nlp"), [5])


def test_models_that_exceed_the_nodes_never_all_run(cluster):
    """The numbers of models-exceed-nodes: 4 × 5 and 2 × 4 of 32 GPUs on four nodes; with 3 × 5, all run."""
    pods = {"big": (5, 4), "small": (4, 2)}
    models = {
        name: model(name, "nlp", resources={"gpus": gpus}, replicas=count)
        for name, (gpus, count) in pods.items()
    }
    spec = (pool(gpus=32), team("nlp", share(guarantee=32)))
    out = ready(cluster, *spec, *models.values())
    [found] = [it.message for it in out.findings if it.rule.name == "models-exceed-nodes"]
    assert "big (4 × 5 nvidia.com/gpu) and small (2 × 4 nvidia.com/gpu)" in found
    assert 'or lower the replicas of model "big" to 3' in found
    for name, (gpus, count) in pods.items():
        cluster.create(*jobs("nlp", count, Ask(gpus=gpus), prefix=name))
    cluster.becomes("quota for all", lambda: held(cluster, "nlp"), [6])
    expected = True
    # On each of four nodes is one large pod, or one or two small ones.
    cluster.until("nodes are full", lambda: cluster.bound("nlp") in {18, 20, 23})
    cluster.stays("waiting", lambda: bool(cluster.waiting("nlp")), expected, for_s=1)
    fewer = model("big", "nlp", resources={"gpus": 5}, replicas=3)
    after = rendered((*spec, fewer, models["small"]))
    assert not found_by(after, "models-exceed-nodes")
    for name, (_, count) in pods.items():
        for i in range(count):
            cluster.delete("batch/v1", "Job", f"{name}-{i}", "nlp")
    cluster.becomes("deleted", lambda: cluster.bound("nlp"), 0)
    cluster.create(*jobs("nlp", 3, Ask(gpus=5), prefix="fewer"))
    cluster.becomes("large", lambda: cluster.bound("nlp"), 15)
    cluster.create(*jobs("nlp", 2, Ask(gpus=4), prefix="rest"))
    cluster.becomes("all", lambda: cluster.bound("nlp"), 23)


def found_by(out, rule):
    """Whether a rule has a finding about what was rendered."""
    return rule in {it.rule.name for it in out.findings}


@pytest.mark.parametrize("cores, most", [(3, 1), (60, 5)])
def test_a_small_limit_of_cpu_leaves_gpus_idle(cluster, cores, most):
    """host-quota-small: 8 GPUs come with 96 cores, of which each Job uses 2."""
    quota = share(guarantee=0, limit=8, cpu={"guarantee": 0, "limit": cores})
    out = ready(cluster, pool(), team("nlp", quota))
    assert found_by(out, "host-quota-small") == (most == 1)
    cluster.create(*jobs("nlp", 5, Ask(gpus=1, cpu="2")))
    cluster.becomes("nlp's", lambda: held(cluster, "nlp"), [most])
    cluster.stays("nlp's", lambda: held(cluster, "nlp"), [most], for_s=1)


@pytest.mark.parametrize("limit, most", [(5, 5), (8, 8)])
def test_models_that_scale_up_together_exceed_the_limit(cluster, limit, most):
    """peak-exceeds-limit: they run with 2 replicas each, and want 4 each."""
    models = [
        model(
            name,
            "nlp",
            resources={"gpus": 1},
            autoscaling={"minReplicas": 2, "maxReplicas": 4},
        )
        for name in ("chat", "embed")
    ]
    out = ready(cluster, pool(), team("nlp", share(guarantee=4, limit=limit)), *models)
    assert found_by(out, "peak-exceeds-limit") == (limit < 8)
    cluster.create(*jobs("nlp", 4, prefix="chat"), *jobs("nlp", 4, prefix="embed"))
    cluster.becomes("nlp's", lambda: held(cluster, "nlp"), [most])
    cluster.stays("nlp's", lambda: held(cluster, "nlp"), [most], for_s=1)


def test_a_gang_above_the_limit_is_not_started_in_part(cluster):
    ready(cluster, pool(gpus=8), team("nlp", share(guarantee=2, limit=4)))
    cluster.create(job("five", "nlp", ONE, pods=5, queue="a100"))
    cluster.create(job("four", "nlp", ONE, pods=4, queue="a100"))
    cluster.becomes("GPUs in use", cluster.bound, 4)
    cluster.stays("admitted", lambda: cluster.admitted("nlp"), ["four"], for_s=1)


@pytest.mark.parametrize("ask, most", [(WHOLE, 4), (Ask(gpus=1, cpu="24"), 2)])
def test_cpu_of_a_share_is_bounded_with_its_gpus(cluster, ask, most):
    """4 GPUs come with 48 cores, which Jobs of 1 GPU and 24 cores use up two by two."""
    ready(cluster, pool(), team("nlp", share(limit=4)))
    cluster.create(*jobs("nlp", 5, ask))
    cluster.becomes("nlp's", lambda: held(cluster, "nlp"), [most])
    cluster.stays("nlp's", lambda: held(cluster, "nlp"), [most], for_s=1)


def test_what_a_limit_range_fills_in_is_charged(cluster):
    """2 Jobs that name no cpu and memory, at 500m and 1Gi each."""
    ready(
        cluster,
        pool(),
        team("nlp", share(limit=4), containerDefaults={"cpu": "500m", "memory": "1Gi"}),
    )
    cluster.create(*jobs("nlp", 2))
    cluster.becomes("charged", lambda: charged(cluster, "nlp.a100"), (1, 2 * 2**30, 2))


@pytest.mark.parametrize("limit, most", [(6, 6), (None, 12)])
def test_the_limit_of_a_parent_binds_its_children_together(cluster, limit, most):
    bound = {} if limit is None else {"limit": limit}
    ready(
        cluster,
        pool(gpus=12),
        team("language", share(guarantee=4, **bound), namespaces=()),
        team("training", share(guarantee=2), parent="language"),
        team("evaluation", share(guarantee=1), parent="language"),
    )
    cluster.create(*jobs("training", 5))
    cluster.becomes("training's", lambda: held(cluster, "training"), [5])
    cluster.create(*jobs("evaluation", 8))
    total = lambda: sum(held(cluster, "training", "evaluation"))
    cluster.becomes("admitted", total, most)
    cluster.stays("admitted", total, most, for_s=1)


def test_what_a_parent_keeps_goes_to_its_children_before_others(cluster):
    """5 GPUs; language keeps 2 beside evaluation's 1, and evaluation gets them back from vision."""
    ready(
        cluster,
        pool(gpus=5),
        team("language", share(guarantee=3), namespaces=()),
        team("evaluation", share(guarantee=1), parent="language"),
        team("vision", share(guarantee=2)),
    )
    cluster.create(*jobs("vision", 6))
    # Kueue writes an eviction over the status that it read before. If it still writes the admission of
    # that workload, either can be lost, and Kueue waits forever for the eviction that it has issued.
    cluster.becomes("vision borrows all", lambda: cluster.bound("vision"), 5)
    cluster.create(*jobs("evaluation", 4))
    both = lambda: held(cluster, "evaluation", "vision")
    cluster.becomes("each its own", both, [3, 2])
    cluster.stays("each its own", both, [3, 2], for_s=1)


@pytest.mark.parametrize("policy, back", [(None, 2), ("Never", 0)], ids=["rendered", "control"])
def test_borrowed_gpus_go_back_when_their_owner_returns(cluster, policy, back):
    """6 GPUs, of which nlp, guaranteed 2, finds all in use: and gets 2, not more."""
    ready(
        cluster,
        pool(gpus=6),
        team("nlp", share(guarantee=2)),
        team("vision", share(guarantee=2)),
    )
    if policy:
        never = {"spec": {"preemption": {"reclaimWithinCohort": policy}}}
        cluster.patch(KUEUE, "ClusterQueue", "nlp.a100", never)
    cluster.create(*jobs("vision", 6))
    cluster.becomes("vision borrows all", cluster.bound, 6)
    cluster.create(*jobs("nlp", 4))
    both = lambda: held(cluster, "nlp", "vision")
    cluster.becomes("after reclaim", both, [back, 6 - back])
    cluster.becomes("nlp's GPUs in use", lambda: cluster.bound("nlp"), back)
    cluster.stays("no more", both, [back, 6 - back])


def test_without_preemption_a_guarantee_is_kept_by_not_lending_it(cluster):
    """The same with preemptionEnabled: false; GPUs that are not guaranteed can be lent."""
    ready(
        cluster,
        pool(gpus=8, schedulingPolicy={"preemptionEnabled": False}),
        team("nlp", share(guarantee=3)),
        team("vision", share(guarantee=2)),
    )
    cluster.create(*jobs("vision", 8))
    cluster.becomes("vision's", lambda: held(cluster, "vision"), [5])
    cluster.stays("vision's", lambda: held(cluster, "vision"), [5], for_s=1)
    cluster.becomes("vision's pods", lambda: cluster.bound("vision"), 5)
    running = {pod["metadata"]["uid"] for pod in cluster.pods("vision")}
    cluster.create(*jobs("nlp", 6))
    cluster.becomes("both", lambda: held(cluster, "nlp", "vision"), [3, 5])
    cluster.becomes("GPUs in use", cluster.bound, 8)
    assert {pod["metadata"]["uid"] for pod in cluster.pods("vision")} == running


def test_without_preemption_a_parent_lends_to_its_children_only(cluster):
    """language keeps 2 for its children; 3 of 8 GPUs are not guaranteed."""
    ready(
        cluster,
        pool(gpus=8, schedulingPolicy={"preemptionEnabled": False}),
        team("language", share(guarantee=4), namespaces=()),
        team("training", share(guarantee=1), parent="language"),
        team("evaluation", share(guarantee=1), parent="language"),
        team("vision", share(guarantee=1)),
    )
    cluster.create(*jobs("vision", 8))
    cluster.becomes("vision's", lambda: held(cluster, "vision"), [4])
    cluster.create(*jobs("training", 8))
    cluster.becomes("training's", lambda: held(cluster, "training"), [3])
    cluster.create(*jobs("evaluation", 8))
    everybody = lambda: held(cluster, "vision", "training", "evaluation")
    cluster.becomes("all", everybody, [4, 3, 1])
    cluster.stays("all", everybody, [4, 3, 1], for_s=1)


def test_a_namespace_of_another_team_cannot_use_the_queue(cluster):
    ready(cluster, pool(), team("nlp", share(guarantee=4)), team("vision", share(guarantee=4)))
    door = {
        "apiVersion": KUEUE,
        "kind": "LocalQueue",
        "metadata": {"name": "side-door", "namespace": "vision"},
        "spec": {"clusterQueue": "nlp.a100"},
    }
    cluster.create(door, {**door, "metadata": {"name": "side-door", "namespace": "nlp"}})
    cluster.create(*jobs("vision", 1, queue="side-door"), *jobs("nlp", 1, queue="side-door"))
    cluster.becomes("its own namespace's", lambda: cluster.admitted("nlp"), ["nlp-0"])
    cluster.until("the other's is refused", lambda: NO_SELECTOR in messages(cluster, "vision"))
    cluster.stays("the other's", lambda: cluster.admitted("vision"), [], for_s=1)


def test_a_team_waits_in_each_of_its_namespaces_for_one_share(cluster):
    ready(
        cluster,
        pool(),
        team("nlp", share(guarantee=2, limit=5), namespaces=("nlp-live", "nlp-test")),
    )
    cluster.create(*jobs("nlp-live", 4))
    cluster.becomes("live", lambda: held(cluster, "nlp-live"), [4])
    cluster.create(*jobs("nlp-test", 4))
    both = lambda: held(cluster, "nlp-live", "nlp-test")
    cluster.becomes("both", both, [4, 1])
    cluster.stays("both", both, [4, 1], for_s=1)
