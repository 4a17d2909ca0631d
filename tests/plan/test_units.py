"""The units of a pool: cards, MIG instances or replicas."""

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
