"""Models that no placement on the nodes of their pool runs at the same time, counted by hand."""

import pytest

from tests.plan.model_specs import a100, messages, models, quotas

RULE = "models-exceed-nodes"
ALL = quotas("a", "pool: p, guarantee: 64")
"""All of eight nodes with eight GPUs."""


def serving(gpus, replicas, more=""):
    return f"resources: {{gpus: {gpus}{more}}}, replicas: {replicas}"


def training(gpus, pods):
    return f"workload: training, resources: {{gpus: {gpus}}}, gang: {{size: {pods}}}"


def found(planned, *fields, team=ALL, pool=None):
    named = {f"m{i}": it for i, it in enumerate(fields)}
    done = planned(pool or a100(), team, models("a", **named))
    return messages(done, RULE)


@pytest.mark.parametrize(
    "fields",
    [
        (serving(8, 8),),
        (serving(5, 8), serving(3, 8)),
        (serving(5, 6), serving(4, 4)),
        (serving(3, 16), serving(2, 8)),
        # Jobs wait for each other, not for ever.
        (training(8, 8), training(5, 8)),
        (serving(5, 4), training(8, 4)),
        # Each replica has another node, but replicas of two models can share one.
        tuple(serving(4, 8) + ", availability: {failureDomain: node}" for _ in range(2)),
        # A smaller request of cpu leaves room for the other model.
        (serving(1, 8, ", cpu: 40"), serving(7, 8, ", cpu: 56")),
    ],
)
def test_models_for_which_a_placement_exists(planned, fields):
    assert found(planned, *fields) == []


def test_pods_of_one_model_alone(planned):
    assert found(planned, serving(5, 9)) == [
        (
            'the nodes of pool "p" (8 × 8 nvidia.com/gpu) never have room for all pods of m0 (9 × 5 nvidia.com/gpu), '
            "because no pod can be divided over nodes, so some pods never start; "
            'add 1 node to pool "p", or lower the replicas of model "m0" to 8'
        )
    ]


def test_models_that_do_not_matter_are_not_named(planned):
    """Five nodes remain for 11 pods with 3 GPUs, two on each; pods with 1 GPU have room in any case."""
    assert found(planned, serving(1, 4), serving(8, 3), serving(3, 11)) == [
        (
            'the nodes of pool "p" (8 × 8 nvidia.com/gpu) never have room for all pods of m1 (3 × 8 nvidia.com/gpu) '
            "and m2 (11 × 3 nvidia.com/gpu), because no pod can be divided over nodes, so some pods never start; "
            'add 1 node to pool "p", or lower the replicas of model "m2" to 10'
        )
    ]


def test_a_gang_beside_serving_models(planned):
    [message] = found(planned, serving(5, 6), training(8, 3), training(6, 3), training(8, 2))
    assert message == (
        'the nodes of pool "p" (8 × 8 nvidia.com/gpu) never have room for m1 (3 × 8 nvidia.com/gpu) beside the serving '
        "models m0 (6 × 5 nvidia.com/gpu), because no pod can be divided over nodes; "
        'add 1 node to pool "p", or lower the replicas of model "m0" to 5'
    )


def test_a_gang_alone(planned):
    [message] = found(planned, training(5, 9))
    assert message == (
        'the nodes of pool "p" (8 × 8 nvidia.com/gpu) never have room for m0 (9 × 5 nvidia.com/gpu), because no pod can '
        'be divided over nodes; add 1 node to pool "p", or request other amounts for each pod'
    )


def test_replicas_that_need_nodes_of_their_own(planned):
    """Each of 8 nodes has one of the first model, so that 4 GPUs are left on each."""
    apart = serving(4, 8) + ", availability: {failureDomain: node}"
    [message] = found(planned, apart, serving(5, 1))
    assert "m0 (8 × 4 nvidia.com/gpu" in message
    assert message.endswith('or lower the replicas of model "m0" to 7')


def test_cpu_of_pods(planned):
    [message] = found(planned, serving(1, 8, ", cpu: 50"), serving(1, 1, ", cpu: 47"))
    assert 'pool "p" (8 × 96 cores) never have room for all pods of m0 (8 × 50 cores)' in message


def test_an_autoscaler_is_lowered_by_its_minimum(planned):
    scaled = "resources: {gpus: 5}, autoscaling: {minReplicas: 9, maxReplicas: 10}"
    [message] = found(planned, scaled)
    assert message.endswith('or lower minReplicas of model "m0" to 8')


def test_each_cause_has_one_finding(planned):
    """What a limit keeps from running is reported there, and the rest is still checked."""
    few, rest = quotas("a", "pool: p, limit: 16"), quotas("b", "pool: p, limit: 64")
    over = models("a", m=serving(8, 1), o=serving(8, 2))
    done = planned(a100(), few, rest, over, models("b", k=serving(5, 9)))
    assert len(messages(done, "models-exceed-limit")) == 1
    [message] = messages(done, RULE)
    assert "all pods of k (9 × 5 nvidia.com/gpu)," in message
    done = planned(a100(), ALL, models("a", m=serving(8, 9), o=serving(5, 8)))
    assert messages(done, RULE) == []
    assert len(messages(done, "model-above-limit")) == 1


def test_shared_queues(planned):
    """A model can use the nodes of all pools of its queue."""
    shared = """
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {name: x}
    spec: {sharedQueues: [{name: s, pools: [p, q]}]}
    """
    both = quotas("a", "pool: p, guarantee: 64", "pool: q, guarantee: 64")
    for count, hits in ((16, 0), (17, 1)):
        done = planned(shared, a100(), a100("q"), both, models("a", m=serving(5, count)))
        assert len(messages(done, RULE)) == hits, count
    assert "(8 × 8 nvidia.com/gpu and 8 × 8 nvidia.com/gpu)" in messages(done, RULE)[0]


def test_mig_pools_are_not_checked(planned):
    mig = ", sharing: mig, mig: {instances: {1g.5gb: 8, 3g.20gb: 8}}"
    team = quotas("a", "pool: p, guarantee: {1g.5gb: 8, 3g.20gb: 8}")
    assert (
        found(planned, "resources: {gpuMemory: 10Gi}, replicas: 8", team=team, pool=a100(gpu=mig))
        == []
    )


def test_remedies_lead_to_no_other_finding(planned):
    """With 8 replicas of the serving model, the gang still finds no node, so 6 are proposed."""
    [message] = found(planned, serving(5, 9), training(8, 2))
    assert message.endswith('add 3 nodes to pool "p", or lower the replicas of model "m0" to 6')
    assert found(planned, serving(5, 6), training(8, 2)) == []
