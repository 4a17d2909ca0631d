"""Autoscalers scale between bounds that the guarantee and the limit of the team hold."""

import re

import pytest

from policygen.plan.decisions import Decisions
from policygen.plan.workload import scaling
from tests.plan.model_specs import a100, messages, models, quotas

WORKLOADS = frozenset({"workloads"})


def scaled(fields, each="gpus: 2", more=""):
    metric = "metric: requests, targetConcurrency: 1000"
    return f"resources: {{{each}}}, autoscaling: {{{fields}, {metric}}}{more}"


def made(planned, quota, text, pool=""):
    done = planned(a100(more=pool), quotas("a", quota), models("a", m=text), extras=WORKLOADS)
    return done, done.of("HorizontalPodAutoscaler").get("a-ns/m")


@pytest.mark.parametrize(
    "quota, fields, bounds",
    [
        ("guarantee: 8, limit: 16", "minReplicas: 2, maxReplicas: 6", (2, 6)),
        ("guarantee: 8, limit: 15", "minReplicas: 2, maxReplicas: 8", (2, 7)),
        ("guarantee: 5, limit: 16", "minReplicas: 3, maxReplicas: 8", (2, 8)),
        ("guarantee: 1, limit: 16", "minReplicas: 3, maxReplicas: 8", (1, 8)),
        ("guarantee: 4, limit: 6", "minReplicas: 4, maxReplicas: 9", (2, 3)),
        ("guarantee: 0, limit: 1", "minReplicas: 2, maxReplicas: 9", (1, 1)),
    ],
)
def test_bounds_are_lowered_to_what_the_team_has(planned, quota, fields, bounds):
    done, it = made(planned, f"pool: p, {quota}", scaled(fields))
    assert (it.least, it.most, it.average) == (*bounds, "1k")
    assert (it.target.api_version, it.target.kind, it.target.name) == ("apps/v1", "Deployment", "m")
    assert done.of("Deployment")["a-ns/m"].autoscaled
    stated = [int(part.split(": ")[1]) for part in fields.split(", ")]
    lower = sum(has < says for has, says in zip(bounds, stated, strict=True))
    assert len(messages(done, "autoscaler-bounds-lowered")) == lower


def test_cpu_counts_too(planned):
    quota = "pool: p, guarantee: 16, limit: 16, cpu: {guarantee: 20, limit: 20}"
    _, it = made(planned, quota, scaled("minReplicas: 1, maxReplicas: 8", "gpus: 2, cpu: 6"))
    assert (it.least, it.most) == (1, 3)


@pytest.mark.parametrize(
    "each, most, reason",
    [
        ("gpus: 5", 8, 'the 8 nodes of pool "p" hold 8 replicas, and no pod can be divided'),
        ("gpus: 1, cpu: 50", 8, "hold 8 replicas"),
        ("gpus: 5, cpu: 1, memory: 600Gi", 8, "hold 8 replicas"),
        ("gpus: 4", 16, "the limit of team"),
        ("gpus: 3", 16, "hold 16 replicas"),
    ],
)
def test_no_more_replicas_than_the_nodes_hold(planned, each, most, reason):
    """Eight nodes of 8 GPUs, 96 cores and 1,100 GiB."""
    quota = "pool: p, guarantee: 64"
    done, it = made(planned, quota, scaled("minReplicas: 1, maxReplicas: 20", each))
    assert (it.least, it.most) == (1, most)
    (message,) = messages(done, "autoscaler-bounds-lowered")
    assert reason in message


def test_a_least_number_above_the_nodes_is_lowered_too(planned):
    done, it = made(
        planned, "pool: p, guarantee: 64", scaled("minReplicas: 10, maxReplicas: 12", "gpus: 5")
    )
    assert (it.least, it.most) == (8, 8)
    for message in messages(done, "autoscaler-bounds-lowered"):
        assert "hold 8 replicas" in message


def test_borrowed_cpu_does_not_count_as_guarantee(planned):
    quota = "pool: p, guarantee: 16, limit: 16, cpu: {guarantee: 12, limit: 60}"
    _, it = made(planned, quota, scaled("minReplicas: 4, maxReplicas: 8", "gpus: 2, cpu: 6"))
    assert (it.least, it.most) == (2, 8)


def test_where_nothing_is_borrowed_only_the_limit_counts(planned):
    pool = "      scheduler: kube-scheduler"
    _, it = made(planned, "pool: p, limit: 8", scaled("minReplicas: 3, maxReplicas: 9"), pool)
    assert (it.least, it.most) == (3, 4)


def test_what_a_queue_of_volcano_deserves_covers_replicas(planned):
    pool = "      scheduler: volcano"
    quota = "pool: p, guarantee: 4, limit: 16"
    _, it = made(planned, quota, scaled("minReplicas: 4, maxReplicas: 9"), pool)
    assert (it.least, it.most) == (4, 8)  # the only team deserves its limit


@pytest.mark.parametrize("guarantee, expected", [(8, (3, None)), (6, (None, 1))])
def test_a_budget_leaves_room_for_drains_of_the_fewest_replicas(planned, guarantee, expected):
    more = ", availability: {failureDomain: none, minAvailable: 3}"
    text = scaled("minReplicas: 4, maxReplicas: 6", more=more)
    done, it = made(planned, f"pool: p, guarantee: {guarantee}, limit: 16", text)
    budget = done.of("PodDisruptionBudget")["a-ns/m"]
    assert it.least == guarantee // 2
    assert (budget.min_available, budget.max_unavailable) == expected


def test_a_model_without_a_metric_has_its_least_replicas(planned):
    text = "resources: {gpus: 1}, autoscaling: {minReplicas: 3, maxReplicas: 8}"
    done, it = made(planned, "pool: p, guarantee: 8", text)
    deployment = done.of("Deployment")["a-ns/m"]
    assert (it, deployment.autoscaled, deployment.size) == (None, False, 3)
    (message,) = messages(done, "autoscaler-not-rendered")
    assert "rendered with 3 replicas; write autoscaling.metric" in message


def test_batch_models_have_no_autoscaler(planned):
    text = "workload: batch, resources: {gpus: 1}, autoscaling: {minReplicas: 1, maxReplicas: 4}"
    done, it = made(planned, "pool: p, guarantee: 8", text)
    assert it is None
    assert not messages(done, "autoscaler-not-rendered")


KEDA = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: ml}
spec: {keda: {prometheus: "http://prometheus:9090"}}
"""


def test_keda_asks_prometheus_for_all_pods_of_the_model(planned):
    text = models("a", m=scaled("minReplicas: 2, maxReplicas: 6"))
    done = planned(KEDA, a100(), quotas("a", "pool: p, guarantee: 8"), text, extras=WORKLOADS)
    assert not done.of("HorizontalPodAutoscaler")
    it = done.of("ScaledObject")["a-ns/m"]
    assert (it.least, it.most, it.threshold) == (2, 6, "1000")
    assert it.trigger.address == "http://prometheus:9090"
    pods = "m-[4-9bcdf]{5,10}-[a-z0-9]{5}"
    assert it.trigger.query == f'sum(requests{{namespace="a-ns", pod=~"{pods}"}})'
    assert re.fullmatch(pods, "m-6d4cf56db6-b9qwd")
    assert not re.fullmatch(pods, "m-eu-b9qwd")  # of a Job m-eu


@pytest.mark.parametrize(
    "kind, pod", [("StatefulSet", "m-[0-9]+"), ("LeaderWorkerSet", "m-[0-9]+(-[0-9]+)?")]
)
def test_pods_of_other_kinds_have_other_names(planned, kind, pod):
    text = models("a", m=scaled("minReplicas: 2, maxReplicas: 6"))
    done = planned(KEDA, a100(), quotas("a", "pool: p, guarantee: 8"), text, extras=WORKLOADS)
    (assignment,) = done.plan.workloads.assignments
    plan = done.plan
    decided = Decisions(done.loaded.spec, plan.pools, plan.trees, plan.workloads)
    it = scaling.autoscaler(decided, assignment, ("apps/v1", kind))
    assert f'pod=~"{pod}"' in it.trigger.query
