"""Models on a shared card."""

from tests.plan.model_specs import a100, assigned, model


def test_a_shared_card_warns_of_what_nothing_keeps_apart(planned, team):
    shared = a100(gpu=", sharing: timeSlicing, replicas: 4")
    done = planned(shared, team("a", "guarantee: 8"), model(resources="gpuMemory: 9Gi"))
    assert assigned(done)[2] == 1
    assert "shared-memory-exceeded" not in done.rules
    done = planned(shared, team("a", "guarantee: 8"), model(resources="gpuMemory: 13Gi"))
    assert "shared-memory-exceeded" in done.rules
    done = planned(shared, team("a", "guarantee: 8"), model(resources="gpuMemory: 40Gi"))
    assert "model-fits-no-pool" in done.rules
    # MPS divides the memory, so there it does not fit.
    mps = a100(gpu=", sharing: mps, replicas: 4")
    done = planned(mps, team("a", "guarantee: 8"), model(resources="gpuMemory: 13Gi"))
    assert "model-fits-no-pool" in done.rules


def test_a_shared_card_is_told_only_where_the_model_is_planned(planned, team):
    shared = a100("q", gpu=", sharing: timeSlicing, replicas: 4")
    both = team("a", "guarantee: 8").replace("guarantee: 8}", "guarantee: 8}, {pool: q}")
    done = planned(a100(), shared, both, model())
    assert assigned(done)[0] == "p"
    assert "shared-memory-exceeded" not in done.rules
    # Kueue may place it on either pool of one queue.
    platform = """
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {name: set}
    spec: {sharedQueues: [{name: all, pools: [p, q]}]}
    """
    done = planned(platform, a100(), shared, both, model())
    assert assigned(done)[0] == "p"
    assert "shared-memory-exceeded" in done.rules
