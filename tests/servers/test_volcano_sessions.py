"""The simulator and Volcano's scheduler decide the same in drawn sessions."""

from collections import Counter

import pytest

from tests.simulate.scenes import NODES
from tests.simulate.scenes import played as simulated
from tests.simulate.volcano.test_over_time import QUEUES, conf, vcjob

from .volcano_scenarios import CREATED
from .volcano_sessions import Real, compared
from .why_gangs import LENDING, Drawn, Gang, Played, node, queue


def test_the_simulator_decides_as_volcanos_scheduler():
    seen: Counter[str] = Counter()
    assert list(compared(0, 45, seen)) == []
    assert seen["Binding"] > 500
    assert seen["Releasing"] > 10


@pytest.mark.parametrize(
    ("pods", "gpus", "deserved", "starts"),
    [(1, 8, 8, True), (2, 4, 8, False), (2, 4, 16, True), (2, 8, 16, True), (4, 4, 16, False)],
)
def test_a_gang_reclaims_one_pod_for_each_of_its_pods(pods, gpus, deserved, starts):
    """Pods with 8 GPUs hold three nodes. A second pod with 4 GPUs finds no pod to evict on the node that is freed."""
    holders = [Gang(f"h{i}", "r", 1, 8) for i in range(3)]
    queues = [queue("q", 24, deserved), queue("r", 24, 24 - deserved)]
    target = Gang("target", "q", pods, gpus)
    drawn = Drawn((), [node(f"n{i}", 8) for i in range(3)], queues, target, holders, LENDING)
    real = Real()
    try:
        played = Played(real, drawn)
        for it in holders:
            played.submit(it.object)
        played.sessions()
        played.submit(target.object)
        played.sessions()
    finally:
        real.close()
    assert played.started("target") is starts


@pytest.mark.parametrize("uid", ["0f", "f0"])
def test_equal_jobs_are_ordered_by_the_names_of_their_pod_groups(uid):
    """Volcano calls a PodGroup JOB-UID. So of the Jobs train and train-2, the UID of train decides who is first."""
    uids = {"train": uid, "train-2": "88"}
    groups = {f"{it}-{uids[it]}": it for it in uids}
    drawn = Drawn((), [node("n", 8)], [queue("q", 8, 8)], Gang("x", "q", 1, 8), [], LENDING)
    for order in (groups, reversed(groups)):
        real = Real()
        try:
            played = Played(real, drawn)
            for it in order:
                played.submit(Gang(it, "q", 1, 8).object)
                played.groups[it]["metadata"]["creationTimestamp"] = CREATED.format(1)
            played.sessions()
        finally:
            real.close()
        assert [it for it in groups if played.started(it)] == [min(groups)]
    jobs = (
        vcjob(it, "a", 16).replace("namespace: ns", f"namespace: ns\n  uid: '{uids[it]}'")
        for it in uids
    )
    found = simulated(NODES + QUEUES + conf("enqueue, allocate") + "".join(jobs))
    assert min(found, key=lambda it: found[it].started) == f"ns/{groups[min(groups)]}"
