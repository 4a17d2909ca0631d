"""In Kueue, weights divide what is not guaranteed, and priorities decide which Job is first."""

import time
from functools import partial

import pytest

from tests.servers.cluster import KUEUE
from tests.servers.scenes import ONE, held, jobs, ready
from tests.servers.specs import platform, pool, share, team
from tests.servers.workloads import Ask, job

URGENT = {"name": "urgent", "value": 1000}
NORMAL = {"name": "normal", "value": 500}
MODEST = {"name": "modest", "value": 800, "preempts": False}


def configured(cluster, *documents):
    """Kueue with the Configuration that the spec renders."""
    return cluster.kueue(ready(cluster, *documents).kueue_config)


def test_weights_divide_what_guarantees_leave(cluster):
    """6 GPUs less 2 guarantees of 1 leave 4, which 1 to 3 divides into 1 and 3."""
    spec = (
        pool(gpus=6),
        team("first", share(guarantee=1)),
        team("second", share(guarantee=1, weight=3)),
    )
    both = lambda: held(cluster, "first", "second")
    with configured(cluster, *spec):
        cluster.create(*jobs("first", 6))
        cluster.becomes("first has all", both, [6, 0])
        cluster.create(*jobs("second", 6))
        cluster.becomes("shared out", both, [2, 4])
        cluster.stays("shared out", both, [2, 4], for_s=1)


def test_without_fair_sharing_weights_decide_nothing(cluster):
    """The control: the same teams under Kueue's own Configuration; guarantees alone come back."""
    ready(
        cluster,
        pool(gpus=6),
        team("first", share(guarantee=1)),
        team("second", share(guarantee=1, weight=3)),
    )
    both = lambda: held(cluster, "first", "second")
    cluster.create(*jobs("first", 6))
    cluster.becomes("first has all", both, [6, 0])
    cluster.create(*jobs("second", 6))
    cluster.becomes("guarantee", both, [5, 1])
    cluster.stays("guarantee", both, [5, 1], for_s=1)


def test_weights_divide_what_a_parent_has_among_its_children(cluster):
    """8 GPUs; language is held to 3, which its children divide 1 to 2."""
    spec = (
        pool(),
        team("language", share(limit=3), namespaces=()),
        team("training", share(weight=1), parent="language"),
        team("evaluation", share(weight=2), parent="language"),
    )
    both = lambda: held(cluster, "training", "evaluation")
    with configured(cluster, *spec):
        cluster.create(*jobs("training", 4))
        cluster.becomes("training has all", both, [3, 0])
        cluster.create(*jobs("evaluation", 4))
        cluster.becomes("shared out", both, [1, 2])
        cluster.stays("shared out", both, [1, 2], for_s=1)


def test_guarantees_come_before_weights(cluster):
    """5 GPUs: language has 3 with its child's 1, vision 1 and, by its weight, the one left."""
    spec = (
        pool(gpus=5),
        team("language", share(guarantee=3), namespaces=()),
        team("evaluation", share(guarantee=1), parent="language"),
        team("vision", share(guarantee=1, weight=100)),
    )
    both = lambda: held(cluster, "evaluation", "vision")
    with configured(cluster, *spec):
        cluster.create(*jobs("vision", 5))
        cluster.becomes("vision has all", both, [0, 5])
        cluster.create(*jobs("evaluation", 4))
        cluster.becomes("each its guarantee", both, [3, 2])
        cluster.stays("each its guarantee", both, [3, 2], for_s=1)


@pytest.mark.parametrize("ranked", [True, False])
def test_priorities_order_admission(cluster, ranked):
    """One GPU; what waits for it comes by rank, and without ranks in order of creation."""
    ready(
        cluster,
        platform(URGENT, NORMAL),
        pool(schedulingPolicy={"preemptionEnabled": False}),
        team("nlp", share(guarantee=1, limit=1)),
    )
    queued = partial(job, namespace="nlp", ask=ONE, queue="a100")
    cluster.create(queued("running"))
    cluster.becomes("running", lambda: cluster.admitted("nlp"), ["running"])
    cluster.create(queued("early", kueue_priority="normal" if ranked else None))
    time.sleep(1.1)  # Kueue's timestamps have no fractions of seconds
    cluster.create(queued("late", kueue_priority="urgent" if ranked else None))
    cluster.becomes("queued", lambda: len(cluster.objects(KUEUE, "Workload", "nlp")), 3)
    cluster.stays("running", lambda: cluster.admitted("nlp"), ["running"], for_s=0.5)
    cluster.delete("batch/v1", "Job", "running", "nlp")
    first = "late" if ranked else "early"
    cluster.becomes("first", lambda: cluster.admitted("nlp"), [first])


@pytest.mark.parametrize(
    "high, preemption, winner",
    [("urgent", True, "high"), ("urgent", False, "low"), ("modest", True, "high")],
)
def test_a_higher_priority_takes_its_own_teams_gpus(cluster, high, preemption, winner):
    """Unless the pool preempts nothing. `preempts: false` binds pods only, not Kueue."""
    ready(
        cluster,
        platform(URGENT, NORMAL, MODEST),
        pool(schedulingPolicy={"preemptionEnabled": preemption}),
        team("nlp", share(guarantee=2, limit=2)),
    )
    ask = Ask(gpus=2)
    cluster.create(job("low", "nlp", ask, queue="a100", kueue_priority="normal"))
    cluster.becomes("low", lambda: cluster.bound("nlp"), 2)
    cluster.create(job("high", "nlp", ask, queue="a100", kueue_priority=high))
    cluster.becomes("admitted", lambda: cluster.admitted("nlp"), [winner])
    cluster.stays("admitted", lambda: cluster.admitted("nlp"), [winner], for_s=1)


def test_a_priority_takes_nothing_from_another_teams_guarantee(cluster):
    ready(
        cluster,
        platform(URGENT, NORMAL),
        pool(),
        team("nlp", share(guarantee=4)),
        team("vision", share(guarantee=4)),
    )
    cluster.create(*jobs("vision", 4, kueue_priority="normal"))
    cluster.becomes("vision's", lambda: held(cluster, "vision"), [4])
    cluster.create(*jobs("nlp", 8, kueue_priority="urgent"))
    both = lambda: held(cluster, "nlp", "vision")
    cluster.becomes("both", both, [4, 4])
    cluster.stays("both", both, [4, 4], for_s=1)
