"""How replicas are separated on each pool, and what a drain can evict."""

import pytest

from tests.plan.model_specs import a100, messages, models, quotas

WORKLOADS = frozenset({"workloads"})
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def made(planned, domain, policy="", replicas=3):
    fields = f"resources: {{gpus: 1}}, replicas: {replicas}, availability: {domain}"
    more = f"      schedulingPolicy: {policy}" if policy else ""
    texts = a100(more=more), quotas("a", "pool: p"), models("a", m=fields)
    return planned(*texts, extras=WORKLOADS)


def spread(done):
    (it,) = done.of("Deployment").values()
    return it.pods.spread


@pytest.mark.parametrize("domain, key", [("node", "hostname"), ("zone", "zone")])
def test_a_pool_that_does_not_pack_spreads_by_a_score(planned, domain, key):
    done = made(planned, f"{{failureDomain: {domain}}}", "{spread: true}")
    (constraint,) = spread(done).constraints
    assert constraint["topologyKey"].endswith(key)
    assert constraint["whenUnsatisfiable"] == "ScheduleAnyway"
    assert constraint["labelSelector"] == {"matchLabels": {"app": "m"}}
    assert not messages(done, "spread-not-rendered")


def test_a_pool_that_packs_gives_each_replica_a_node(planned):
    done = made(planned, "{failureDomain: node}")
    [term] = spread(done).affinity["podAntiAffinity"][REQUIRED]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert not spread(done).constraints
    assert not messages(done, "spread-not-rendered")


@pytest.mark.parametrize(
    "domain, policy, replicas, remedy",
    [
        ("zone", "", 3, "or use a pool with spread: true"),
        ("node", "", 9, "or lower the number of replicas"),
        ("node", "{spread: true, topologyAware: true}", 3, "choose a pool without topologyAware"),
    ],
)
def test_what_the_policy_of_a_pool_prevents(planned, domain, policy, replicas, remedy):
    done = made(planned, f"{{failureDomain: {domain}}}", policy, replicas)
    (message,) = messages(done, "spread-not-rendered")
    assert message.endswith(remedy)
    assert (spread(done).constraints, spread(done).affinity) == ((), None)
    assert done.of("PodDisruptionBudget")


def test_budgets(planned):
    (it,) = made(planned, "{failureDomain: none}").of("PodDisruptionBudget").values()
    assert (it.min_available, it.max_unavailable) == (None, 1)
    done = made(planned, "{failureDomain: none, minAvailable: 2}")
    (it,) = done.of("PodDisruptionBudget").values()
    assert (it.min_available, it.max_unavailable) == (2, None)
    assert (spread(done).constraints, spread(done).affinity) == ((), None)
