"""Sessions on small clusters. tests/servers/test_volcano_sessions.py compares drawn ones with Volcano."""

from policygen.core.decoding import converted
from policygen.kubernetes.typed import decoded
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.placement.shape import shape_of
from policygen.simulate.volcano.build import task_of
from policygen.simulate.volcano.choices import Choices
from policygen.simulate.volcano.job import Phase, TaskStatus, VolcanoJob
from policygen.simulate.volcano.kubernetes_view import KubernetesView
from policygen.simulate.volcano.scheduler import SessionOutcome
from policygen.simulate.volcano.session import Session
from policygen.simulate.volcano.state import VolcanoState

from .made import GPU, job, node, places, queue, running, scheduler, settings

BINPACK = {
    "name": "binpack",
    "arguments": {"binpack.weight": 10, "binpack.resources": GPU, f"binpack.resources.{GPU}": 10},
}
TREE = {"name": "capacity", "enableHierarchy": True}


def outcomes(entries):
    return {it.job.name: it.outcome for it in entries}


def test_a_gang_starts_as_a_whole_or_not_at_all():
    volcano = scheduler([node("a"), node("b", 4)], [queue("q")], settings("allocate", "capacity"))
    small, large = job("small", "q", 6), job("large", "q", 2, gpus=3, created=5)
    volcano.submit(small)
    volcano.submit(large)
    found = outcomes(volcano.session())
    assert found == {"ns/small": SessionOutcome.STARTED, "ns/large": SessionOutcome.WAITING}
    assert running(small) == 6
    assert running(large) == 0
    assert large.reason == "NotEnoughResources"
    assert large.message == (
        "1/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable; "
        "Pending: 1 Schedulable, 1 Unschedulable. Origin reason is large-worker-1: "
        "0/2 nodes are unavailable: 2 Insufficient nvidia.com/gpu."
    )
    volcano.finish(small)
    volcano.session()
    assert running(large) == 2


def test_pods_above_the_minimum_start_one_by_one():
    volcano = scheduler([node("a", 4)], [queue("q")], settings("allocate", "capacity"))
    elastic = job("elastic", "q", 6, least=2)
    volcano.submit(elastic)
    volcano.session()
    assert running(elastic) == 4


def test_binpack_fills_one_node_first():
    used = settings("allocate", "capacity", BINPACK)
    volcano = scheduler([node("a"), node("b"), node("c")], [queue("q")], used)
    first, second = job("first", "q", 1), job("second", "q", 5, created=5)
    volcano.submit(first)
    volcano.submit(second)
    volcano.session()
    assert places(second) == places(first) * 5


def test_nodeorder_spreads():
    volcano = scheduler(
        [node("a"), node("b")], [queue("q")], settings("allocate", "capacity", "nodeorder")
    )
    spread = job("spread", "q", 4)
    volcano.submit(spread)
    volcano.session()
    assert sorted(places(spread)) == [0, 0, 1, 1]


def test_a_queue_stays_below_its_capability_and_that_of_its_parent():
    queues = [
        queue("root"),
        queue("team", capability=6),
        queue("a", parent="team"),
        queue("b", parent="team"),
    ]
    volcano = scheduler([node("n")], queues, settings("allocate", TREE))
    one, other = job("one", "a", 4), job("other", "b", 4, least=1, created=5)
    volcano.submit(one)
    volcano.submit(other)
    volcano.session()
    assert (running(one), running(other)) == (4, 2)


def test_a_guarantee_of_another_queue_is_not_lent():
    queues = [queue("root"), queue("a"), queue("b", guarantee=3, deserved=3)]
    volcano = scheduler([node("n")], queues, settings("allocate", TREE))
    greedy = job("greedy", "a", 8, least=1)
    volcano.submit(greedy)
    volcano.session()
    assert running(greedy) == 5


def test_a_pod_group_in_a_parent_stops_all_queues():
    queues = [queue("root"), queue("team"), queue("a", parent="team")]
    volcano = scheduler([node("n")], queues, settings("allocate", TREE))
    sound = job("sound", "a", 1)
    volcano.submit(sound)
    volcano.submit(job("wrong", "team", 1))
    volcano.session()
    assert running(sound) == 0


def test_a_gang_reclaims_one_pod_for_each_of_its_pods():
    """The first pod with 4 GPUs frees 8 on a node. The second one finds no pod to evict there."""
    used = settings("allocate, reclaim", TREE)
    for pods, gpus, reclaims in ((1, 8, True), (2, 4, False)):
        queues = [queue("root"), queue("a", deserved=16), queue("b", deserved=8)]
        volcano = scheduler([node("l"), node("m"), node("n")], queues, used)
        volcano.submit(job("borrower", "a", 3, gpus=8, least=1))
        volcano.session()
        volcano.submit(job("claimant", "b", pods, gpus=gpus, created=5))
        assert any(it.evictions for it in volcano.session()) is reclaims


def test_a_queue_reclaims_what_it_deserves():
    queues = [queue("root"), queue("a", deserved=4), queue("b", deserved=4)]
    volcano = scheduler([node("n")], queues, settings("allocate, reclaim", TREE, "conformance"))
    borrower = job("borrower", "a", 8, least=1)
    volcano.submit(borrower)
    volcano.session()
    assert running(borrower) == 8
    claimant = job("claimant", "b", 3, created=5)
    volcano.submit(claimant)
    (entry,) = (it for it in volcano.session() if it.job is claimant)
    assert entry.outcome is SessionOutcome.EVICTING
    assert {it.reason.value for it in entry.evictions} == {"reclaim"}
    assert len(volcano.evicted()) == 3
    for task in volcano.evicted():
        volcano.release(task)
    volcano.session()
    assert (running(claimant), running(borrower)) == (3, 5)
    volcano.submit(job("more", "b", 2, created=9))  # one more than b deserves
    assert not any(it.evictions for it in volcano.session())


def test_a_job_preempts_one_of_a_lower_priority_in_its_queue():
    volcano = scheduler(
        [node("n")], [queue("q")], settings("allocate, preempt", "capacity", "conformance")
    )
    low, high = job("low", "q", 8, least=1), job("high", "q", 2, priority=10, created=5)
    volcano.submit(low)
    volcano.session()
    volcano.submit(high)
    (entry,) = (it for it in volcano.session() if it.job is high)
    assert [it.reason.value for it in entry.evictions] == ["preempt", "preempt"]
    assert {it.victim.job for it in entry.evictions} == {low}
    for task in volcano.evicted():
        volcano.release(task)
    volcano.session()
    assert (running(high), running(low)) == (2, 6)


def test_pods_are_created_after_their_job_is_enqueued():
    used = settings(
        "enqueue, allocate", {"name": "overcommit", "arguments": {"overcommit-factor": 1.0}}
    )
    volcano = scheduler([node("n")], [queue("q")], used)
    first, second = job("first", "q", 8), job("second", "q", 1, created=5)
    for it in (first, second):
        it.unborn = [*it.tasks.values()]
        for task in it.unborn:
            it.remove(task)
        volcano.submit(it)
    found = outcomes(volcano.session())
    assert found == {"ns/first": SessionOutcome.ENQUEUED, "ns/second": SessionOutcome.NOT_ENQUEUED}
    assert second.message == "resource in cluster is overused: overused nvidia.com/gpu"
    volcano.session()
    assert running(first) == 8
    assert second.phase is Phase.PENDING


def test_a_queue_without_room_enqueues_nothing():
    used = settings("enqueue, allocate", "capacity")
    volcano = scheduler([node("n")], [queue("q", capability=2)], used)
    large = job("large", "q", 3)
    volcano.submit(large)
    volcano.session()
    assert large.message == "queue resource quota insufficient: insufficient nvidia.com/gpu"


def test_backfill_starts_pods_that_request_nothing():
    volcano = scheduler([node("n", 0)], [queue("q")], settings("allocate, backfill", "capacity"))
    empty = job("empty", "q", 2, gpus=0)
    volcano.submit(empty)
    volcano.session()
    assert running(empty) == 2


def test_proportion_divides_by_weight():
    queues = [queue("a", weight=3), queue("b", weight=1)]
    volcano = scheduler([node("n")], queues, settings("allocate", "proportion"))
    one, other = job("one", "a", 8, least=1), job("other", "b", 8, least=1)
    volcano.submit(one)
    volcano.submit(other)
    volcano.session()
    assert (running(one), running(other)) == (6, 2)


def test_the_order_of_sums_decides_about_a_gpu_that_proportion_divides():
    """Queue c deserves 3 of 26 GPUs, or in another order of the queues 2.9999999999999996."""
    queues = [queue("a", weight=5), queue("b", weight=5), queue("c", weight=1)]
    seen = {}
    for seed in range(10):
        nodes = [node("n", 8), node("m", 18)]
        volcano = scheduler(nodes, queues, settings("allocate", "proportion"))
        volcano.choices = Choices(seed)
        jobs = [job(name, name, pods, least=1) for name, pods in (("a", 20), ("b", 8), ("c", 23))]
        for it in jobs:
            volcano.submit(it)
        volcano.session()
        seen[running(jobs[2])] = volcano.choices.rounded > 0
    assert seen == {2: True, 3: True}


def test_a_pod_may_preempt_only_if_its_nominated_node_refused_it_when_it_was_prepared():
    """Filters that look at other pods keep what they saw: here, no other pod on the node."""
    spec = {
        "containers": [{"name": "c"}],
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"job": "spread"}},
            }
        ],
    }
    typed = converted(spec, PodSpec, decoded)
    shape = shape_of(typed, {"job": "spread"}, "ns")
    used = settings("allocate")
    state = VolcanoState([node("n"), node("m")], [queue("q")])
    gang = VolcanoJob("ns/spread", "q", min_available=2)
    for i in range(2):
        gang.add(task_of(f"ns/spread-{i}", shape, typed, {}))
    state.jobs[gang.name] = gang
    session = Session(state, used, KubernetesView(state.nodes.table, used), Choices(None))
    first, second = gang.tasks.values()
    second.nominated = 0
    assert not session.fits_nominated(second)
    session.prepare(second)
    session.place(first, 0, TaskStatus.ALLOCATED)
    assert session.fits_nominated(second)
    session.prepare(second)
    assert not session.fits_nominated(second)


def test_waits_while_pods_have_no_node():
    volcano = scheduler([node("n", 1)], [queue("q")], settings("allocate", "capacity"))
    assert not volcano.waits()
    volcano.submit(job("large", "q", 2))
    assert volcano.waits()
