"""Changes whose effect the theory knows: other names and orders, and more quota, priority or nodes."""

import copy
import json
import random
import re

import pytest

from policygen.simulate.kueue.quota import settle
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.timeline import Timeline
from tests.servers.kueue_scenarios import drawn
from tests.servers.kueue_scheduler import KueuePlay, Script, simulated
from tests.simulate.kueue import trees
from tests.simulate.placement.made import node, shape
from tests.simulate.test_timeline import job

SEEDS = (*range(25), 2026112620)
"""At the last one, the last flavor of a message is another one after renaming."""
NAME = re.compile(r"\b([qcfw])(\d+)\b|\bl(\d+)-(\d+)\b")
APART = """
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: c}}}
"""
LATER_S = 10_000
MUCH = 3 << 30
"""3 Gi of memory, and more of all other resources than anybody requests."""


def _renamed(text):
    """The text with names that sort the other way."""
    return NAME.sub(lambda it: f"x{99 - int(it[2] or it[3]):02}{it[0]}", text)


def _comparable(steps, names=str):
    """The results without the order of what a message lists."""
    return [
        (
            step.livelock,
            sorted((cycle, names(name), what, why) for cycle, name, what, why in step.actions),
            {
                names(name): (
                    [
                        (it[0], it[1], {key: names(of) for key, of in it[2].items()})
                        for it in flavors
                    ],
                    sorted(re.split(r"[,;:.] ", names(message))),
                    where,
                )
                for name, (flavors, message, where) in step.workloads.items()
            },
        )
        for step in steps
    ]


def _reordered(scenario, seed):
    found, source = copy.deepcopy(scenario), random.Random(seed)
    for kind in ("flavors", "cohorts", "clusterQueues", "localQueues"):
        source.shuffle(found[kind])
    for step in found["steps"]:
        source.shuffle(step["create"])
        source.shuffle(step["finish"])
    return found


@pytest.mark.parametrize("fair", [False, True])
def test_names_and_orders_decide_nothing_but_ties(fair):
    compared = 0
    for seed in SEEDS:
        scenario, chance = drawn(seed, fair=fair), Script()
        before = simulated(scenario, chance)
        if chance.widths:
            continue
        compared += 1
        reordered = simulated(_reordered(scenario, seed), Script())
        assert _comparable(reordered) == _comparable(before), seed
        renamed = simulated(json.loads(_renamed(json.dumps(scenario))), Script())
        assert _comparable(renamed) == _comparable(before, _renamed), seed
    assert compared > len(SEEDS) * 0.8


def _alone(scenario, quota=0, priority=0):
    """Whether a workload is admitted that arrives at last, when nothing else waits; None: a livelock before."""
    play = KueuePlay.of(scenario, Script())
    if any(play.step(it).livelock for it in scenario["steps"]):
        return None
    scheduler = play.scheduler
    for name in [name for name, it in play.workloads.items() if it.admission is None]:
        scheduler.finish(play.workloads.pop(name), LATER_S)
    scheduler.retry(scheduler.changed())
    late = copy.deepcopy(scenario["steps"][-1]["create"][-1])
    late["metadata"] |= {
        "name": "late",
        "uid": "u-late",
        "creationTimestamp": "1970-01-01T02:46:40Z",
    }
    late["spec"]["priority"] += priority
    _raise_quota(scheduler, f"n/{late['spec']['queueName']}", quota)
    play.step({"at": LATER_S, "finish": [], "create": [late]})
    return play.workloads["n/late"].admission is not None


def _raise_quota(scheduler, local_queue, amount):
    state = scheduler.state
    node = state.queues[state.local_queues[local_queue]].node
    running = [it for queue in state.queues.values() for it in queue.workloads.values()]
    for it in running:
        state.take_out(it)
    for pair in node.pairs:
        node.nominal[pair] += amount
    settle(node.root())
    for it in running:
        state.put_back(it)


@pytest.mark.parametrize("fair", [False, True])
def test_more_quota_or_priority_lets_no_workload_wait_that_arrives_alone(fair):
    admitted = 0
    for seed in SEEDS:
        scenario = drawn(seed, fair=fair)
        if not _alone(scenario):
            continue
        admitted += 1
        for more in ({"quota": 1}, {"quota": MUCH}, {"priority": 1}, {"priority": 5}):
            assert _alone(scenario, **more) is not False, (seed, more)
    assert admitted > len(SEEDS) * 0.2


def _started(jobs, quota):
    """When each job of a StrictFIFO queue starts, by name."""
    node = trees.queue("a", quota)
    state = trees.state(node, node)
    state.queues["a"].pending.strict = True
    made = Timeline(
        [job(trees.workload(name, "a", gpus, created=at), lasts) for name, at, gpus, lasts in jobs],
        Scheduler(state),
    )
    for _ in made.run():
        pass
    return {it.arrival.name: it.started for it in made.jobs}


@pytest.mark.parametrize("seed", range(5))
def test_more_quota_delays_no_job_of_a_strict_queue(seed):
    """Without preemption and with one queue, every job starts at the same time or earlier."""
    source = random.Random(seed)
    jobs = [
        (f"w{i}", float(i * 10), source.randint(1, 8), float(source.randint(10, 400)))
        for i in range(60)
    ]
    before = _started(jobs, 8)
    for quota in (9, 12, 30):
        after = _started(jobs, quota)
        assert all(after[name] <= at for name, at in before.items())
    assert sum(before.values()) > sum(after.values())


def test_one_more_node_refuses_no_pod():
    """Except with hard constraints over domains, since a node more can be a domain more."""
    source = random.Random(3)
    shapes = [
        shape(cpu="3", memory="1Gi"),
        shape("nodeSelector: {disk: ssd}", memory="6Gi"),
        shape(APART, app="c"),
        shape(owner={"of": "b"}, cpu="500m"),
    ]
    nodes = [node(f"n{i}", 4, 8 + i % 2 * 8, disk=["ssd", "hdd"][i % 2]) for i in range(6)]
    few = KubeScheduler(nodes)
    many = KubeScheduler([*nodes, node("more", 1, 1)])
    for _ in range(60):
        pod = source.choice(shapes)
        found, also = few.place(pod), many.place(pod)
        assert found is None or also is not None
        if also is not None:  # both go on with the same pods on the same nodes
            many.remove(pod, also.node)
        if found is not None:
            many.bind(pod, found.node)
    assert few.place(shapes[0]) is None
