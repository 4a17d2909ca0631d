"""Under Kueue a workload gets one of the pools that it may use, in the order of a shared queue."""

import pytest

from tests.servers.cluster import KUEUE, holds, owner
from tests.servers.scenes import ONE, held, jobs, ready
from tests.servers.specs import platform, pool, share, team
from tests.servers.workloads import GPU, Ask, job

SPOT, STEADY = "spot", "steady"
EITHER = {"sharedQueues": [{"name": "either", "pools": [SPOT, STEADY]}]}
SPOT_TAINT = {"key": "spot", "value": "true", "effect": "NoSchedule"}


def flavors(cluster, namespace):
    """The flavor of each admitted Job's GPUs."""
    return {
        owner(workload): workload["status"]["admission"]["podSetAssignments"][0]["flavors"][GPU]
        for workload in cluster.objects(KUEUE, "Workload", namespace)
        if holds(workload, "Admitted")
    }


def counted(cluster, namespace):
    """Jobs in each flavor."""
    found = list(flavors(cluster, namespace).values())
    return {name: found.count(name) for name in sorted(set(found))}


def alternatives(cluster, *teams, **spot):
    """Two pools of 4 GPUs in one queue, spot nodes first and tainted."""
    return ready(
        cluster,
        platform(**EITHER),
        pool(SPOT, 4, **{"taints": [SPOT_TAINT], "provisioning": "spot", **spot}),
        pool(STEADY, 4),
        *teams,
    )


@pytest.mark.parametrize(
    "policy, order",
    [
        (None, [SPOT, SPOT, STEADY, STEADY, SPOT, STEADY]),
        ("MayStopSearch", [SPOT, SPOT, SPOT, STEADY, STEADY, STEADY]),
    ],
    ids=["rendered", "control"],
)
def test_flavors_are_tried_in_order(cluster, policy, order):
    """Within guarantees first spot, then the other; only then is anything borrowed."""
    numbers = {"guarantee": 2, "limit": 3}
    alternatives(cluster, team("ads", share(SPOT, **numbers), share(STEADY, **numbers)))
    if policy:
        stop = {"spec": {"flavorFungibility": {"whenCanBorrow": policy}}}
        cluster.patch(KUEUE, "ClusterQueue", "ads.either", stop)
    seen = []
    for index in range(6):
        cluster.create(job(f"j{index}", "ads", ONE, queue="either"))
        cluster.becomes("admitted", lambda: held(cluster, "ads"), [index + 1])
        seen.append(flavors(cluster, "ads")[f"j{index}"])
    assert seen == order
    cluster.becomes("on nodes", cluster.placement, {"spot-0": 3, "steady-0": 3})
    cluster.create(job("late", "ads", ONE, queue="either"))
    cluster.stays("admitted", lambda: held(cluster, "ads"), [6], for_s=1)


def test_a_guarantee_of_one_flavor_comes_back_when_all_are_in_use(cluster):
    """Until then its owner gets the other flavor, and no workload is evicted."""
    alternatives(
        cluster,
        team("ads", share(SPOT, guarantee=2), share(STEADY)),
        team("search", share(SPOT), share(STEADY)),
    )
    cluster.create(*jobs("search", 4, queue="either"))
    cluster.becomes("search", lambda: counted(cluster, "search"), {SPOT: 4})
    cluster.create(*jobs("ads", 1, queue="either", prefix="early"))
    cluster.becomes("ads", lambda: flavors(cluster, "ads"), {"early-0": STEADY})
    cluster.create(*jobs("search", 3, queue="either", prefix="more"))
    cluster.becomes("search", lambda: counted(cluster, "search"), {SPOT: 4, STEADY: 3})
    cluster.create(*jobs("ads", 3, queue="either"))
    cluster.becomes("ads", lambda: counted(cluster, "ads"), {SPOT: 2, STEADY: 1})
    cluster.becomes("search", lambda: counted(cluster, "search"), {SPOT: 2, STEADY: 3})
    cluster.stays("ads", lambda: counted(cluster, "ads"), {SPOT: 2, STEADY: 1}, for_s=1)


def test_a_flavor_without_a_share_is_never_chosen(cluster):
    """Also while it is idle and the other is full."""
    alternatives(
        cluster,
        team("ads", share(STEADY, guarantee=1)),
        team("search", share(SPOT, guarantee=4), share(STEADY)),
    )
    cluster.create(*jobs("ads", 6, queue="either"))
    cluster.becomes("ads", lambda: counted(cluster, "ads"), {STEADY: 4})
    cluster.stays("ads", lambda: counted(cluster, "ads"), {STEADY: 4}, for_s=1)
    cluster.becomes("on nodes", cluster.placement, {"spot-0": 0, "steady-0": 4})
    cluster.create(*jobs("search", 6, queue="either"))
    cluster.becomes("search", lambda: counted(cluster, "search"), {SPOT: 4})


@pytest.mark.parametrize(
    "ask, used",
    [(Ask(), {SPOT: 4, STEADY: 4}), (Ask(node_selector={"pool": STEADY}), {STEADY: 4})],
    ids=["either", "one"],
)
def test_a_model_that_may_not_use_spot_names_its_nodes(cluster, ask, used):
    alternatives(cluster, team("ads", share(SPOT), share(STEADY)))
    cluster.create(*jobs("ads", 9, ask, queue="either"))
    cluster.becomes("flavors", lambda: counted(cluster, "ads"), used)
    cluster.stays("flavors", lambda: counted(cluster, "ads"), used, for_s=1)
    cluster.becomes("GPUs in use", cluster.bound, sum(used.values()))


@pytest.mark.parametrize(
    "ask, used",
    [
        (Ask(), {STEADY: 4}),
        (Ask(tolerations=[{"key": "spot", "operator": "Exists"}]), {SPOT: 4, STEADY: 4}),
    ],
    ids=["intolerant", "tolerant"],
)
def test_a_pool_that_lends_no_toleration_takes_only_who_has_it(cluster, ask, used):
    alternatives(cluster, team("ads", share(SPOT), share(STEADY)), tolerations=[])
    cluster.create(*jobs("ads", 9, ask, queue="either"))
    cluster.becomes("flavors", lambda: counted(cluster, "ads"), used)
    cluster.stays("flavors", lambda: counted(cluster, "ads"), used, for_s=1)
    cluster.becomes("GPUs in use", cluster.bound, sum(used.values()))
