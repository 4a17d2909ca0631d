"""What must hold for Kueue's decisions without knowing them: more quota, more priority, other names."""

import os
import random
from fractions import Fraction

from msgspec import json

from policygen.core.decoding import converted
from policygen.core.finding import At
from policygen.core.names import GPU, HOSTNAME
from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import first
from policygen.kubernetes.kueue_workloads import WorkloadView
from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.object import Object
from policygen.kubernetes.typed import decoded
from policygen.simulate.kueue.build import state_of, workload_of
from policygen.simulate.kueue.entry import Outcome
from policygen.simulate.kueue.quota import settle
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.placement.profile import Profile
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import simple_shape
from tests.servers.kueue_scenarios import NAMESPACE, drawn
from tests.servers.kueue_scheduler import Script, simulated

KINDS = ("flavors", "cohorts", "clusterQueues", "localQueues", "namespaces")
COUNT = int(os.environ.get("POLICYGEN_SIMULATED", "100"))
RENAMED = COUNT * 2 // 5
STARTS = (Outcome.ADMITTED, Outcome.PREEMPTING)


class Played:
    """The state after all steps of a drawn scenario, without its pending workloads."""

    def __init__(self, seed, *, fair):
        scenario = drawn(seed, fair=fair)
        cluster = Cluster(Object.read(it, At(0, ())) for kind in KINDS for it in scenario[kind])
        settings = first(cluster, DEFAULT["kueue"])
        strategies = scenario["fairSharing"]["preemptionStrategies"] if fair else ()
        self.scheduler = Scheduler(state_of(cluster, tuple(strategies)))
        self.state = self.scheduler.state
        workloads = []
        for i, it in enumerate(each for step in scenario["steps"] for each in step["create"]):
            fields = converted(it["spec"], WorkloadView, decoded)
            name = f"{NAMESPACE}/{it['metadata']['name']}"
            workloads.append(workload_of(name, it["metadata"]["uid"], float(i), fields, settings))
        self.probe = workloads.pop()
        for it in workloads:
            self.scheduler.submit(it)
            self._cycle(it.created)
        for queue in self.state.queues.values():
            for it in [*queue.pending.waiting(), *queue.pending.inadmissible.values()]:
                queue.pending.remove(it)
        # A change of a ClusterQueue retries what did not fit, and forgets what is equal to it.
        self.scheduler.retry({it.node.root() for it in self.state.queues.values()})
        self.queue = self.state.queue_of(self.probe)

    def _cycle(self, now):
        self.scheduler.cycle(now)
        for victim in self.scheduler.evicted():
            self.scheduler.release(victim)

    def admitted(self):
        return [it for queue in self.state.queues.values() for it in queue.workloads.values()]

    def outcome(self, probe=None):
        """What becomes of a workload that is submitted now."""
        probe = probe or self.probe
        self.scheduler.submit(probe)
        for _ in range(6):  # one cycle for each flavor, if the scan of flavors stops
            for entry in self.scheduler.cycle(1000.0):
                if entry.outcome in STARTS:
                    return entry.outcome
        return None

    def more_quota(self, change):
        """Change the quota of nodes, while the admitted workloads hold theirs."""
        held = self.admitted()
        for it in held:
            self.state.take_out(it)
        roots = {it.node.root() for it in self.state.queues.values()}
        for root in roots:
            change(root)
            settle(root)
        for it in held:
            self.state.put_back(it)


def nodes(root):
    yield root
    for child in root.children:
        yield from nodes(child)


def grown(source, node):
    """More of one quota or limit of a node."""
    pairs = sorted(node.pairs)
    if not pairs:
        return
    pair, amount = source.choice(pairs), source.randint(1, 4000)
    what = source.choice([node.nominal, node.borrowing_limit, node.lending_limit])
    if what[pair] is not None:
        what[pair] += amount


def changes_order(queue):
    """Whether a queue can prefer a preemption in one flavor to a plain fit in another.

    Then more quota or priority can make a preemption possible, and the workload waits for it.
    """
    return queue.preemption_over_borrowing or not queue.try_next_after_preempt


def seeds(count):
    return ((seed, fair) for fair in (False, True) for seed in range(5000, 5000 + count))


def test_more_quota_never_turns_an_admission_into_a_wait():
    admitted = 0
    for seed, fair in seeds(COUNT):
        before = Played(seed, fair=fair)
        if before.outcome() is not Outcome.ADMITTED or changes_order(before.queue):
            continue
        admitted += 1
        source = random.Random(seed)
        after = Played(seed, fair=fair)
        own = {*after.queue.node.ancestors(), after.queue.node}

        def change(root, source=source, own=own):
            for node in nodes(root):
                if node in own or source.random() < 0.3:
                    grown(source, node)

        after.more_quota(change)
        assert after.outcome() is Outcome.ADMITTED, (seed, fair)
    assert admitted > COUNT // 4


def test_fewer_running_workloads_never_turn_an_admission_into_a_wait():
    for seed, fair in seeds(COUNT):
        before = Played(seed, fair=fair)
        if before.outcome() is not Outcome.ADMITTED or changes_order(before.queue):
            continue
        after = Played(seed, fair=fair)
        held = after.admitted()
        for it in random.Random(seed).sample(held, len(held) // 2):
            after.scheduler.finish(it)
        assert after.outcome() is Outcome.ADMITTED, (seed, fair)


def test_more_priority_never_turns_a_start_into_a_wait():
    for seed, fair in seeds(COUNT):
        before = Played(seed, fair=fair)
        found = before.outcome()
        if found is None or changes_order(before.queue):
            continue
        after = Played(seed, fair=fair)
        it = after.probe
        urgent = QueuedWorkload(
            it.name, it.uid, it.queue, it.priority + 1, it.created, it.pod_sets, it.refusal
        )
        assert after.outcome(urgent) in STARTS, (seed, fair)


def renamed(scenario, source):
    """The scenario with other names of queues, cohorts and workloads, and back to the old ones."""
    names = [
        it["metadata"]["name"]
        for kind in ("cohorts", "clusterQueues", "localQueues")
        for it in scenario[kind]
    ]
    names += [it["metadata"]["name"] for step in scenario["steps"] for it in step["create"]]
    names += [f"c{i}" for i in range(4)]
    names = sorted(set(names))
    new = [f"x{i}" for i in range(len(names))]
    source.shuffle(new)
    table = dict(zip(names, new, strict=True))
    keys = {"name", "parentName", "cohortName", "clusterQueue", "queueName"}

    def changed(value, key=""):
        if isinstance(value, dict):
            return {it: changed(each, it) for it, each in value.items()}
        if isinstance(value, list):
            return [changed(it, key) for it in value]
        if key in keys:
            return table.get(value, value)
        if key == "finish":
            namespace, _, name = value.partition("/")
            return f"{namespace}/{table[name]}"
        return value

    return changed(scenario), {
        f"{NAMESPACE}/{it}": f"{NAMESPACE}/{each}" for each, it in table.items()
    }


def reordered(scenario, source):
    """The scenario with its objects in another order; workloads differ in their creation times."""
    found = json.decode(json.encode(scenario))
    for kind in KINDS:
        source.shuffle(found[kind])
    for step in found["steps"]:
        source.shuffle(step["create"])
        source.shuffle(step["finish"])
    return found


def effects(scenario, old=None):
    """What happened to each workload in each step, and whether chance had a part in it."""
    chance = Script(())
    steps = simulated(scenario, chance)
    old = old or {}
    found = [
        (
            it.livelock,
            sorted((cycle, old.get(name, name), *rest) for cycle, name, *rest in it.actions),
            sorted(
                (old.get(name, name), str(each[0]), each[2]) for name, each in it.workloads.items()
            ),
        )
        for it in steps
    ]
    return found, bool(chance.widths)


def test_names_and_order_change_nothing_but_ties():
    for seed, fair in seeds(RENAMED):
        scenario = drawn(seed, fair=fair)
        expected, by_chance = effects(scenario)
        if by_chance:
            continue
        source = random.Random(seed)
        assert effects(reordered(scenario, source)) == (expected, False), (seed, fair)
        assert effects(*renamed(scenario, source)) == (expected, False), (seed, fair)


def test_more_nodes_never_turn_a_placement_into_a_wait():
    """Of pods without constraints about other pods: those can count empty domains."""
    placed = 0
    for seed in range(COUNT):
        source = random.Random(seed)
        nodes = [_node(source, f"n{i}") for i in range(source.randint(1, 6))]
        more = [_node(source, f"m{i}") for i in range(source.randint(1, 3))]
        pods = [
            simple_shape({"cpu": source.randint(1, 8) * 1000, GPU: source.randint(0, 4)})
            for _ in range(20)
        ]
        before = KubeScheduler(nodes, [Profile()])
        bound = [(it, found.node) for it in pods if (found := before.place(it)) is not None]
        probe = simple_shape({"cpu": 1000, GPU: source.randint(0, 4)})
        if before.place(probe) is None:
            continue
        placed += 1
        after = KubeScheduler([*nodes, *more], [Profile()])
        for it, node in bound:
            after.bind(it, node)
        assert after.place(probe) is not None, seed
    assert placed > COUNT // 4


def _node(source, name):
    gpus = source.choice([0, 4, 8])
    allocatable = {"cpu": Fraction(source.choice([16, 32, 64])), "pods": Fraction(110)}
    return Node(
        name, {HOSTNAME: name}, allocatable=allocatable | ({GPU: Fraction(gpus)} if gpus else {})
    )
