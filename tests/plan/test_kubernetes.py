"""The kube-scheduler and core column of docs/semantics.md, with numbers worked out by hand."""

import pytest

GPU = "requests.nvidia.com/gpu"


def hard(done):
    return {name: quota.hard for name, quota in done.of("ResourceQuota").items()}


def platform(**fields):
    body = "\n".join(f"      {key}: {value}" for key, value in fields.items())
    return f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {{name: set}}
    spec:
{body}
    """


def test_kube_scheduler_pool_is_limited_by_a_quota_divided_over_namespaces(planned, pool, team):
    two = team("a", "limit: 15").replace("[{name: a-ns}]", "[{name: a-1}, {name: a-2}]")
    done = planned(pool(scheduler="kube-scheduler"), two)
    assert hard(done) == {"a-1/default": {GPU: "8"}, "a-2/default": {GPU: "7"}}
    assert done.of("ClusterQueue") == done.of("Queue") == {}


def test_cpu_and_memory_only_on_request_and_with_a_limit_range(planned, pool, team):
    text = pool(scheduler="kube-scheduler", more="quotaCpuAndMemory: true")
    refused = planned(text, team("a", "limit: 16"))
    assert refused.rules == ["container-defaults-missing"]
    done = planned(text, team("a", "limit: 16", more="containerDefaults: {cpu: 500m, memory: 1Gi}"))
    assert hard(done)["a-ns/default"] == {
        "requests.cpu": "192", "requests.memory": "1536Gi", GPU: "16",
    }  # fmt: skip
    limits = done.of("LimitRange")["a-ns/default"]
    assert limits.default_request == {"cpu": "500m", "memory": "1Gi"}


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
def test_no_compute_quota_where_queues_wait(planned, pool, team, scheduler):
    done = planned(pool(scheduler=scheduler), team("a", "guarantee: 8, limit: 16"))
    assert hard(done) == {}
    backstop = pool(scheduler=scheduler, more="quotaBackstop: true")
    two = team("a", "limit: 16").replace("[{name: a-ns}]", "[{name: a-1}, {name: a-2}]")
    # A backstop is the whole limit in each namespace: the queue divides, not the quota.
    assert hard(planned(backstop, two)) == {"a-1/default": {GPU: "16"}, "a-2/default": {GPU: "16"}}


@pytest.mark.parametrize(
    "scheduler, key",
    [
        ("kueue", "count/workloads.kueue.x-k8s.io"),
        ("volcano", "count/podgroups.scheduling.volcano.sh"),
        ("kube-scheduler", "pods"),
    ],
)
def test_max_pending_bounds_what_waits_or_runs(planned, pool, team, scheduler, key):
    done = planned(pool(scheduler=scheduler), team("a", "limit: 16", more="maxPending: 100"))
    assert hard(done)["a-ns/default"][key] == "116"


def test_max_pending_of_queues_in_one_namespace_is_summed(planned, article_pool, queues):
    high = "name: high, priority: 100, weight: 3, maxPending: 5"
    low = "name: low, priority: 10, weight: 1, maxPending: 7"
    done = planned(article_pool, queues(high, low))
    # 5 + 16 and 7 + 16
    assert hard(done) == {"default/default": {"count/workloads.kueue.x-k8s.io": "44"}}
    assert "max-pending-summed" in done.rules


def test_a_quota_cannot_distinguish_two_pools_of_one_resource(planned, pool, team):
    both = team("a", "limit: 8").replace("limit: 8}", "limit: 8}, {pool: q, limit: 8}")
    done = planned(pool(scheduler="kube-scheduler"), pool("q", scheduler="kube-scheduler"), both)
    assert done.rules == ["quota-cannot-tell-pools-apart"]


def test_namespaces_are_made_only_on_request(planned, pool, team):
    text = team("a").replace("{name: a-ns}", "{name: made, create: true}, {name: kept}")
    assert list(planned(pool(), text).of("Namespace")) == ["made"]


@pytest.mark.parametrize(
    "schedulers, preempts, classes",
    [
        (["kueue"], "true", {"high": "Never"}),
        (["kube-scheduler"], "true", {"high": "PreemptLowerPriority"}),
        (["volcano"], "true", {"high": "PreemptLowerPriority"}),
        (["volcano"], "false", {"high": "Never"}),
        (
            ["kueue", "kube-scheduler"],
            "true",
            {"high": "Never", "high.preempting": "PreemptLowerPriority"},
        ),
        (["kueue", "kube-scheduler"], "false", {"high": "Never"}),
        ([], "true", {"high": "Never"}),
    ],
)
def test_priority_classes(planned, pool, schedulers, preempts, classes):
    text = platform(priorities=f"[{{name: high, value: 7, preempts: {preempts}}}]")
    pools = [pool(f"p{i}", scheduler=name) for i, name in enumerate(schedulers)]
    done = planned(text, *pools)
    made = done.of("PriorityClass")
    assert {name: it.preemption_policy for name, it in made.items()} == classes
    assert {it.value for it in made.values()} == {7}
    ranks = done.of("WorkloadPriorityClass")
    assert (list(ranks) == ["high"]) == ("kueue" in schedulers or not schedulers)


def test_preemption_off_on_a_pool_takes_it_from_its_class(planned, pool):
    text = platform(priorities="[{name: high, value: 7}]")
    more = "schedulingPolicy: {preemptionEnabled: false}"
    done = planned(text, pool(scheduler="kube-scheduler", more=more))
    assert done.of("PriorityClass")["high"].preemption_policy == "Never"
