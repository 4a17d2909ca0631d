"""The Volcano column of docs/semantics.md, with numbers worked out by hand.

The pool: 64 GPUs on 8 nodes of 96 cores and 768Gi, so the share of a GPU is 12 cores and 96Gi.
"""

import pytest

from policygen.core.names import GPU
from policygen.core.quantity import read


def gpus(queues, field):
    return {name: getattr(queue, field)[GPU] for name, queue in queues.items()}


def test_pool_is_a_queue_with_all_that_is_available(planned, volcano, team):
    queue = planned(volcano(), team("a")).of("Queue")["p"]
    whole = {"cpu": "768", "memory": "6Ti", GPU: "64"}
    assert (queue.deserved, queue.capability) == (whole, whole)
    assert queue.parent is None  # below Volcano's root, which is never rendered
    assert queue.guarantee == {}
    assert queue.reclaimable is True


def test_deserved_is_the_guarantee_and_a_weighted_share_of_the_rest(planned, volcano, team):
    done = planned(
        volcano(),
        team("a", "guarantee: 10, weight: 3"),
        team("b", "guarantee: 20"),
        team("c"),
    )
    # 34 left over weights 3, 1, 1: 20.4, 6.8, 6.8; the two units left go to b and c
    assert gpus(done.of("Queue"), "deserved") == {"p": "64", "a.p": "30", "b.p": "27", "c.p": "7"}


def test_deserved_stops_at_the_limit_and_the_rest_goes_on(planned, volcano, team):
    done = planned(volcano(), team("a", "guarantee: 10, limit: 12"), team("b", "guarantee: 20"))
    queues = done.of("Queue")
    # 34 left: 17 each, a takes 2 of them, b all 32
    assert gpus(queues, "deserved") == {"p": "64", "a.p": "12", "b.p": "52"}
    assert gpus(queues, "capability") == {"p": "64", "a.p": "12", "b.p": "64"}


def test_tree_sums_as_the_webhook_demands(planned, volcano, team):
    done = planned(
        volcano(),
        team("lab", "guarantee: 30, limit: 48"),
        team("x", "guarantee: 10, limit: 20", parent="lab"),
        team("w", "guarantee: 5", parent="lab"),
        team("z", "guarantee: 4"),
    )
    queues = done.of("Queue")
    names = list(queues)
    assert names[0] == "p"
    assert names.index("lab.p") < min(names.index(name) for name in ("x.p", "w.p", "lab.own.p"))
    assert {name: queue.parent for name, queue in queues.items()} == {
        "p": None, "lab.p": "p", "z.p": "p", "x.p": "lab.p", "w.p": "lab.p", "lab.own.p": "lab.p",
    }  # fmt: skip
    # roots: 30 left of 64 - 34, 15 each: lab 45, z 19
    # lab: 45, of which 10 + 5 + 15 are guaranteed; 15 left, 5 each
    assert gpus(queues, "deserved") == {
        "p": "64", "lab.p": "45", "z.p": "19", "x.p": "15", "w.p": "10", "lab.own.p": "20",
    }  # fmt: skip
    assert gpus(queues, "capability")["w.p"] == "48"


def test_the_own_queue_deserves_the_cpu_and_memory_that_child_teams_leave(planned, volcano, team):
    done = planned(
        volcano(),
        team("lab", "guarantee: 30"),
        team("x", "guarantee: 10, cpu: {limit: 130}", parent="lab"),
        team("w", "guarantee: 3", parent="lab"),
    )
    queues = done.of("Queue")
    for name in ("cpu", "memory"):
        amounts = {it: read(queues[it].deserved[name]).value for it in queues}
        assert amounts["lab.own.p"] == amounts["lab.p"] - amounts["x.p"] - amounts["w.p"]
    assert queues["x.p"].deserved["cpu"] == "130"


def test_every_queue_names_the_same_full_set_of_resources(planned, volcano, team):
    other = (
        volcano(name="q")
        .replace("pool: q", "pool: q\n    volcano.sh/nodegroup-name: q")
        .replace("memory: 80Gi", "memory: 80Gi\n    resource: example.com/npu")
    )
    done = planned(volcano(), other, team("a", "guarantee: 8"))
    for queue in done.of("Queue").values():
        assert list(queue.deserved) == ["cpu", "memory", "example.com/npu", GPU]
        assert list(queue.capability) == list(queue.deserved)
    # Absent would mean unlimited there.
    assert done.of("Queue")["a.p"].capability["example.com/npu"] == "0"
    assert done.of("Queue")["q"].node_group == "q"
    assert done.of("Queue")["a.p"].node_group is None


def test_without_preemption_the_guarantee_is_reserved(planned, volcano, team):
    done = planned(
        volcano(more="schedulingPolicy: {preemptionEnabled: false}"),
        team("lab", "guarantee: 16", namespaces=False),
        team("x", "guarantee: 10", parent="lab"),
        team("z", "guarantee: 8"),
    )
    queues = done.of("Queue")
    # A parent reserves at least what its children do, absent would count as 0.
    assert gpus(queues, "guarantee") == {"p": "24", "lab.p": "16", "z.p": "8", "x.p": "10"}
    assert not any(queue.reclaimable for queue in queues.values())


GANG = """
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {{name: m}}
spec:
  team: a
  workload: training
  priority: high
  resources: {{gpus: 2, cpu: "10", memory: 20Gi}}
  gang: {{size: 6{more}}}
"""

PLATFORM = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: set}
spec: {priorities: [{name: high, value: 10}]}
"""


def test_gang_is_a_pod_group_of_its_size(planned, volcano, team):
    done = planned(PLATFORM, volcano(), team("a", "guarantee: 12"), GANG.format(more=""))
    group = done.of("PodGroup")["a-ns/m"]
    assert group.queue == "a.p"
    assert group.min_member == 6
    assert group.min_resources == {"cpu": "60", "memory": "120Gi", GPU: "12"}
    assert group.priority_class_name == "high"


def test_each_of_several_gangs_has_a_pod_group(planned, volcano, team):
    text = GANG.format(more="").replace("team: a\n", "team: a\n  replicas: 3\n")
    done = planned(PLATFORM, volcano(), team("a", "guarantee: 36"), text)
    groups = done.of("PodGroup")
    assert list(groups) == ["a-ns/m.0", "a-ns/m.1", "a-ns/m.2"]
    assert {group.min_member for group in groups.values()} == {6}
    long = text.replace("name: m}", "name: " + "m" * 62 + "}")
    assert planned(PLATFORM, volcano(), team("a"), long).rules == ["composed-name-too-long"]


@pytest.mark.parametrize("form", ["vcjob", "lws", "job"])
def test_workload_with_its_own_pod_group_has_no_other(planned, volcano, team, form):
    text = GANG.format(more=f", runAs: {form}")
    done = planned(PLATFORM, volcano(), team("a", "guarantee: 12"), text)
    assert done.of("PodGroup") == {}
    carried = next(it.message for it in done.findings if it.rule.name == "pods-must-carry")
    assert "a.p" in carried


def test_gang_of_a_pool_without_gang_scheduling_is_reported(planned, volcano, team):
    pool = volcano(more="schedulingPolicy: {gangScheduling: false}")
    done = planned(PLATFORM, pool, team("a"), GANG.format(more=""))
    assert done.of("PodGroup") == {}
    assert "gang-not-scheduled" in done.rules


def test_queue_priority_is_that_of_the_articles_queue(planned, article_pool, queues):
    platform = """
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {name: set}
    spec: {defaults: {scheduler: volcano}}
    """
    config = queues("name: high, priority: 100, weight: 3", "name: low, priority: 10, weight: 1")
    made = planned(platform, article_pool, config).of("Queue")
    assert {name: queue.priority for name, queue in made.items()} == {
        "p": None, "high.p": 100, "low.p": 10,
    }  # fmt: skip
    assert gpus(made, "deserved") == {"p": "16", "high.p": "12", "low.p": "4"}


def test_a_tree_deeper_than_the_webhook_takes_is_refused(planned, volcano, team):
    chain = [team("t1", "guarantee: 8", namespaces=False)]
    chain += [
        team(f"t{i}", "guarantee: 8", parent=f"t{i - 1}", namespaces=i == 5) for i in range(2, 6)
    ]
    assert planned(volcano(), *chain).rules == ["volcano-tree-too-deep"]
    chain[3] = team("t4", "guarantee: 8", parent="t3")
    assert planned(volcano(), *chain[:4]).plan is not None


def test_negative_priorities_of_queues_keep_their_order(planned, volcano, queues):
    """From 1.14 on, the schema of a Queue refuses priorities below 0."""
    config = queues("name: a, priority: -5", "name: b, priority: 7", "name: c, priority: -9")
    made = planned(volcano(), config).of("Queue")
    assert [made[f"{name}.p"].priority for name in "abc"] == [1, 2, 0]
    positive = config.replace("-5", "5").replace("-9", "9")
    made = planned(volcano(), positive).of("Queue")
    assert [made[f"{name}.p"].priority for name in "abc"] == [5, 7, 9]


def not_enforced(done):
    return [it.message for it in done.findings if it.rule.name == "guarantee-not-enforced"]


def test_without_preemption_two_teams_together_reach_the_guarantee_of_a_third(
    planned, volcano, team
):
    keeps = "schedulingPolicy: {preemptionEnabled: false}"
    teams = [team(name, "guarantee: 10") for name in "abc"]
    # 34 of 64 are not guaranteed, so a and b can each use 44, together all 64.
    found = not_enforced(planned(volcano(more=keeps), *teams))
    assert [it.partition(" is ")[0] for it in found] == [
        f'the guarantee of team "{it}"' for it in "abc"
    ]
    assert "together can use 10 nvidia.com/gpu of it" in found[0]
    assert not_enforced(planned(volcano(), *teams)) == []  # the guarantee is reclaimed
    assert not_enforced(planned(volcano(more=keeps), *teams[:2])) == []
    all_guaranteed = [
        team(name, f"guarantee: {n}") for name, n in (("a", 24), ("b", 20), ("c", 20))
    ]
    assert not_enforced(planned(volcano(more=keeps), *all_guaranteed)) == []
    # b and c reach 27 + 27, which leaves 10 for a; b loses 1 of its 10 to a and c.
    limited = [
        team("a", "guarantee: 10, limit: 28"),
        *(team(it, "guarantee: 10, limit: 27") for it in "bc"),
    ]
    found = not_enforced(planned(volcano(more=keeps), *limited))
    assert [it[:27] for it in found] == [
        'the guarantee of team "b" i',
        'the guarantee of team "c" i',
    ]
    assert "can use 1 nvidia.com/gpu of it" in found[0]


def test_a_guarantee_below_a_parent_is_compared_with_what_the_parent_reaches(
    planned, volcano, team
):
    done = planned(
        volcano(more="schedulingPolicy: {preemptionEnabled: false}"),
        team("lab", "guarantee: 12, limit: 20"),
        *(team(name, "guarantee: 4", parent="lab") for name in "uvw"),
        team("other", "guarantee: 52"),
    )
    assert not_enforced(done) == []  # lab guarantees all that it reaches
    done = planned(
        volcano(more="schedulingPolicy: {preemptionEnabled: false}"),
        team("lab", "guarantee: 18, limit: 20"),
        *(team(name, "guarantee: 4", parent="lab") for name in "uvw"),
    )
    # lab reaches 20, and guarantees 18 (6 of them to lab.own): u, v and .own reach 6, 6 and 8, w keeps 0.
    assert "together can use 4 nvidia.com/gpu of it" in not_enforced(done)[0]
