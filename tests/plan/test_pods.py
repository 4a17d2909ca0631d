"""The fields that pods must set."""

import pytest

from tests.plan.model_specs import a100, model


def test_pods_name_their_nodes_where_the_queue_has_pools_that_they_may_not_use(planned, team):
    platform = """
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {name: set}
    spec: {sharedQueues: [{name: all, pools: [p, q]}]}
    """
    both = team("a", "guarantee: 8").replace("guarantee: 8}", "guarantee: 8}, {pool: q}")
    for placement, told in (("{pools: [p]}", True), ("{pools: [q, p]}", False), ("{}", False)):
        text = model(f"      placement: {placement}")
        done = planned(platform, a100(), a100("q"), both, text)
        [note] = [it.message for it in done.findings if it.rule.name == "pods-must-carry"]
        assert ("nodeSelector pool: p" in note) == told


@pytest.mark.parametrize(
    "scheduler, words",
    [
        ("kueue", ["label kueue.x-k8s.io/queue-name: p", "schedulerName: default.binpack"]),
        ("volcano", ["schedulerName: volcano", "scheduling.volcano.sh/queue-name: a.p"]),
        ("kube-scheduler", ["schedulerName: default.binpack", "nodeSelector pool: p"]),
    ],
)
def test_what_pods_must_carry(planned, team, scheduler, words):
    pool = a100(more=f"      scheduler: {scheduler}")
    done = planned(pool, team("a", "guarantee: 8"), model())
    (note,) = [it.message for it in done.findings if it.rule.name == "pods-must-carry"]
    for word in ["nvidia.com/gpu: 1", "namespace a-ns", *words]:
        assert word in note


def test_a_model_of_a_team_with_children_joins_the_own_leaf(planned, team):
    done = planned(
        a100(),
        team("a", "guarantee: 8"),
        team("b", "guarantee: 4", parent="a"),
        model(),
    )
    (found,) = done.plan.workloads.assignments
    assert found.queue == "a.own.p"
