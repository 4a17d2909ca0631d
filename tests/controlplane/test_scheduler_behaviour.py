"""What a real kube-scheduler does with our profiles, and where their weights begin to hold."""

import itertools
import time
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from textwrap import dedent

import pytest
import yaml

from policygen.plan.scheduler import FIT_WEIGHT, choose
from tests.controlplane.cluster import SETTLE_S
from tests.controlplane.nodes import Shape, add_nodes
from tests.controlplane.pages import bad, good
from tests.controlplane.rendering import rendered
from tests.controlplane.workloads import GPU, Ask, deployment, pod

HOST = "kubernetes.io/hostname"
PAIR = "example.com/pair"
NUMBERS = itertools.count()
"""Of pods, for their names."""
CORES, MEMORY_GI = 128, 1024
"""Of each node."""
SIZE = {"cpu": str(CORES), "memory": f"{MEMORY_GI}Gi"}
PER_GPU = {"cpu": 12, "memory": 96}


def spec(nodes=8, *, per_node=8, policy="binPack"):
    return rendered(
        dedent(f"""
        apiVersion: policygen.dev/v1alpha1
        kind: ResourcePool
        metadata: {{name: h100}}
        spec:
          nodeSelector: {{pool: h100}}
          gpu: {{perNode: {per_node}, memory: 80Gi}}
          capacity: {{nodes: {nodes}, nodeAllocatable: {{cpu: {CORES}, memory: {MEMORY_GI}Gi}}}}
          scheduler: kube-scheduler
          schedulingPolicy: {{{policy}: true}}
        ---
        apiVersion: policygen.dev/v1alpha1
        kind: Team
        metadata: {{name: team}}
        spec:
          namespaces: [{{name: team}}]
          quotas: [{{pool: h100, guarantee: 4}}]
        """)
    )


def profile_of(out):
    """The one profile of our own in the file for the main scheduler."""
    profiles = yaml.load(out.scheduler_config, Loader=yaml.CSafeLoader)["profiles"]
    (mine,) = (each for each in profiles if each["schedulerName"] != "default-scheduler")
    return mine


def configuration(profiles):
    kind = "KubeSchedulerConfiguration"
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": kind}
    return yaml.safe_dump({**head, "profiles": list(profiles)}, sort_keys=False)


def on_node(node, name, ask):
    """A pod that no scheduler needs to place."""
    made = pod(name, "team", ask)
    made["spec"]["nodeName"] = node
    return made


def service(name):
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
    }


# Empty nodes at half load

ORDERS: Mapping[str, list[tuple[int, int]]] = {
    # (GPUs of a pod, pods): 32 GPUs, half of 8 nodes of 8.
    "largest first": [(8, 1), (4, 2), (2, 4), (1, 8)],
    "smallest first": [(1, 8), (2, 4), (4, 2), (8, 1)],
    "mixed": [(1, 4), (8, 1), (2, 2), (4, 1), (1, 4), (4, 1), (2, 2)],
}
PODS = 15
# Packed, each order fills four nodes. By default every node gets some pod, so that a pod of 8
# GPUs that comes last finds none.
WANTED = {"default.binpack": (32, 32), "default-scheduler": (32, 0)}
BLOCKED = {("default-scheduler", "smallest first"): (24, 0)}


@pytest.mark.parametrize("scheduler", WANTED)
@pytest.mark.parametrize("order", ORDERS)
def test_gpus_on_empty_nodes_at_half_load(cluster, record_property, scheduler, order):
    """Deployments behind Services, which kube-scheduler would rather spread."""
    out = spec()
    cluster.add_nodes(out.pools["h100"])
    assert sum(gpus * pods for gpus, pods in ORDERS[order]) == 32
    bound, empty = BLOCKED.get((scheduler, order), WANTED[scheduler])
    with cluster.kube_scheduler(out.scheduler_config) as profiles:
        assert scheduler in profiles
        done = 0
        for number, (gpus, pods) in enumerate(ORDERS[order]):
            name = f"d{number}"
            cpu, memory = str(PER_GPU["cpu"] * gpus), f"{PER_GPU['memory'] * gpus}Gi"
            ask = Ask(gpus=gpus, cpu=cpu, memory=memory, scheduler=scheduler)
            cluster.create(service(name))
            cluster.create(deployment(name, "team", ask, replicas=pods))
            done = min(done + gpus * pods, bound)
            cluster.becomes(f"{pods} pods of {gpus}", cluster.bound, done)
        cluster.becomes("every pod is there", lambda: len(cluster.pods()), PODS)
    used = cluster.placement()
    found = sum(8 for gpus in used.values() if gpus == 0)
    said = f"{scheduler}, {order}: {found} of 64 GPUs on empty nodes, {done} in use"
    record_property("GPUs on empty nodes", said)
    print(said)
    assert found == empty
    assert len(cluster.waiting()) == (32 - bound) // 8


def test_spreading_levels_the_nodes(cluster):
    """Six pods beside a node with two GPUs in use: 2 each. By default that node gets more."""
    out = spec(4, policy="spread")
    first, *_ = cluster.add_nodes(out.pools["h100"])
    cluster.create(on_node(first, "early", Ask(gpus=2)), service("web"))
    with cluster.kube_scheduler(out.scheduler_config) as profiles:
        for scheduler, level in ((profiles[-1], True), ("default-scheduler", False)):
            cluster.create(deployment("web", "team", Ask(gpus=1, scheduler=scheduler), replicas=6))
            cluster.becomes("bound", cluster.bound, 8)
            found = sorted(cluster.placement().values())
            assert (found == [2, 2, 2, 2]) == level, f"{scheduler}: {found}"
            cluster.delete("apps/v1", "Deployment", "web", "team")
            cluster.becomes("gone", cluster.bound, 2)


# Each setting of the packing profile


def score(profile):
    return profile["plugins"]["score"]


def fit(profile):
    (found,) = (c["args"] for c in profile["pluginConfig"] if c["name"] == "NodeResourcesFit")
    return found["scoringStrategy"]


def drop_disabled(name):
    """An edit: the score plugin stays on."""

    def edit(profile):
        disabled = score(profile)["disabled"]
        assert {"name": name} in disabled
        disabled.remove({"name": name})

    return edit


def drop_config(name):
    """An edit: the plugin has its default arguments."""

    def edit(profile):
        kept = [entry for entry in profile["pluginConfig"] if entry["name"] != name]
        assert len(kept) < len(profile["pluginConfig"])
        profile["pluginConfig"] = kept

    return edit


def fit_weight(weight):
    def edit(profile):
        (entry,) = score(profile)["enabled"]
        assert entry["weight"] != weight
        entry["weight"] = weight

    return edit


def gpu_weight(weight):
    def edit(profile):
        (entry,) = (each for each in fit(profile)["resources"] if each["name"] == GPU)
        assert entry["weight"] != weight
        entry["weight"] = weight

    return edit


def drop_resource(name):
    def edit(profile):
        kept = [each for each in fit(profile)["resources"] if each["name"] != name]
        assert len(kept) < len(fit(profile)["resources"])
        fit(profile)["resources"] = kept

    return edit


@dataclass(frozen=True)
class Choice:
    """Two nodes with their loads, and a pod that our profile puts on the first of them.

    Loads are GPUs, cores and GiB in use. Under the edited profile it goes to the second.
    """

    setting: str
    edit: object
    first: tuple[int, int, int]
    second: tuple[int, int, int]
    ask: tuple[int, int] = (1, 1)
    """Cores and GiB beside one GPU."""
    prefers_second: bool = False
    image_on_second: bool = False
    service: bool = False
    """Whether what runs on the first node and this pod are behind one Service."""


BALANCE, IMAGES = "NodeResourcesBalancedAllocation", "ImageLocality"
CHOICES = [
    Choice("MostAllocated", lambda p: fit(p).update(type="LeastAllocated"), (2, 1, 1), (1, 1, 1)),
    Choice("weight of the GPU", gpu_weight(1), (2, 1, 1), (1, 120, 960)),
    Choice("the GPU", drop_resource(GPU), (2, 1, 1), (1, 120, 960)),
    # As many GPUs: cpu or memory breaks the tie.
    Choice("cpu", drop_resource("cpu"), (2, 100, 64), (2, 1, 512)),
    Choice("memory", drop_resource("memory"), (2, 8, 800), (2, 64, 8)),
    Choice("weight of the plugin", fit_weight(1), (7, 1, 1), (1, 1, 1), prefers_second=True),
    Choice(
        "PodTopologySpread", drop_config("PodTopologySpread"), (3, 1, 1), (2, 1, 1), service=True
    ),
    Choice(IMAGES, drop_disabled(IMAGES), (2, 1, 1), (1, 64, 1), image_on_second=True),
    # As many GPUs, and the pod would level cpu and memory on the second: 38 to 37 points inside
    # NodeResourcesFit, some 20 for balance.
    Choice(BALANCE, drop_disabled(BALANCE), (2, 58, 1), (2, 1, 410), (64, 1)),
]


def fill(cluster, choices):
    """The two nodes of each choice, and what runs on them."""
    sides = [
        (f"{name}-{pair}", pair, choice, load)
        for pair, choice in choices.items()
        for name, load in (("first", choice.first), ("second", choice.second))
    ]
    add_nodes(
        cluster.client,
        {node: Shape(**SIZE, labels={PAIR: pair}) for node, pair, _, _ in sides},
    )
    fillers = []
    for node, pair, choice, (gpus, cores, gib) in sides:
        first = node.startswith("first")
        labels = {"app": f"web-{pair}"} if choice.service and first else {}
        asks = [Ask(gpus=1, labels=labels)] * (gpus - 1)
        asks.append(Ask(gpus=1, cpu=str(cores), memory=f"{gib}Gi", labels=labels))
        fillers += [on_node(node, f"{node}-{i}", ask) for i, ask in enumerate(asks)]
        if choice.image_on_second and not first:
            image = {"names": ["none.invalid/none:latest"], "sizeBytes": 100_000_000_000}
            change = {"status": {"images": [image]}}
            cluster.patch("v1", "Node", node, change, subresource="status")
    cluster.create(*fillers, *(service(f"web-{p}") for p, c in choices.items() if c.service))
    time.sleep(SETTLE_S)


def chooser(pair, choice, scheduler):
    cores, gib = choice.ask
    ask = Ask(
        gpus=1,
        cpu=str(cores),
        memory=f"{gib}Gi",
        scheduler=scheduler,
        node_selector={PAIR: pair},
        labels={"app": f"web-{pair}"},
    )
    made = pod(f"chooser-{pair}", "team", ask)
    if choice.prefers_second:
        name = {"key": HOST, "operator": "In", "values": [f"second-{pair}"]}
        wish = {"weight": 100, "preference": {"matchExpressions": [name]}}
        preferred = "preferredDuringSchedulingIgnoredDuringExecution"
        made["spec"]["affinity"] = {"nodeAffinity": {preferred: [wish]}}
    return made


def chosen(cluster, pods):
    """The node that each of these pods gets; the pods are gone afterwards."""
    # New names each time: kwok, late with an old pod, may delete the new one of its name.
    named = [{**it, "metadata": {**it["metadata"], "name": f"p{next(NUMBERS)}"}} for it in pods]
    names = [made["metadata"]["name"] for made in named]

    def nodes():
        found = {p["metadata"]["name"]: p["spec"].get("nodeName") for p in cluster.pods("team")}
        return [found.get(name) for name in names]

    cluster.create(*named)
    cluster.until("every pod has a node", lambda: all(nodes()))
    found = nodes()
    for name in names:
        cluster.delete("v1", "Pod", name, "team")
    cluster.until("they are gone", lambda: not any(nodes()))
    return found


def test_each_setting_of_the_packing_profile_changes_a_placement(cluster):
    mine = profile_of(spec())
    profiles = [mine]
    for number, choice in enumerate(CHOICES):
        edited = deepcopy(mine)
        choice.edit(edited)
        profiles.append({**edited, "schedulerName": f"without-{number}"})
    fill(cluster, {str(number): choice for number, choice in enumerate(CHOICES)})
    numbers = range(len(CHOICES))

    def goes(scheduler):
        pods = [chooser(str(i), CHOICES[i], scheduler(i)) for i in numbers]
        return dict(zip((c.setting for c in CHOICES), chosen(cluster, pods), strict=True))

    with cluster.kube_scheduler(configuration(profiles)):
        with_all = goes(lambda _: mine["schedulerName"])
        without = goes(lambda number: f"without-{number}")
    assert with_all == {c.setting: f"first-{i}" for i, c in enumerate(CHOICES)}
    assert without == {c.setting: f"second-{i}" for i, c in enumerate(CHOICES)}


def test_all_nodes_are_scored(cluster):
    """Without `percentageOfNodesToScore: 100` kube-scheduler scores 100 of 130 nodes in turn.

    Ours does as the good example of a rule's page does, and not as the bad one.
    """
    rule = "packing-sees-a-sample"
    mine = profile_of(spec())
    named = {"good": good(rule), "bad": bad(rule)}
    profiles = [mine] + [
        {**yaml.load(text, Loader=yaml.CSafeLoader)["profiles"][0], "schedulerName": name}
        for name, text in named.items()
    ]
    cluster.add_nodes(Shape(), 130, prefix="n")
    cluster.create(on_node("n-65", "early", Ask(gpus=1)))
    with cluster.kube_scheduler(configuration(profiles)):
        for scheduler in (mine["schedulerName"], *named):
            pods = [pod(f"{scheduler}-{i}", "team", Ask(1, scheduler=scheduler)) for i in range(7)]
            cluster.create(*pods)
            cluster.becomes("bound", cluster.bound, 8)
            nodes = sum(gpus > 0 for gpus in cluster.placement().values())
            assert (nodes == 1) == (scheduler != "bad")
            for made in pods:
                cluster.delete("v1", "Pod", made["metadata"]["name"], "team")
            cluster.becomes("gone", cluster.bound, 1)


# The inequality of plan/scheduler.py

UNITS = (4, 8, 16)
BELOW = 2
"""How far below the weight that the inequality demands the sweep goes."""


def outcome(units, used, weight):
    """1: the node with one GPU more wins, -1: it loses, 0: a tie. By most_allocated.go.

    The other node has `used` GPUs in use, and cpu and memory full with the pod (100 points
    each); the first one has hardly any cpu and memory in use (0 points).
    """
    fuller = weight * (100 * (used + 2) // units) // (weight + 2)
    emptier = (weight * (100 * (used + 1) // units) + 200) // (weight + 2)
    return (fuller > emptier) - (fuller < emptier)


def test_the_smallest_weight_that_packs_is_the_one_that_we_write(cluster, record_property):
    """Swept on nodes of 4, 8 and 16 GPUs, with every number of them in use."""
    demanded = {units: choose(units).gpu_weight for units in UNITS}
    profiles, pairs = [], []
    for units in UNITS:
        mine = profile_of(spec(per_node=units))
        weights = {each["name"]: each["weight"] for each in fit(mine)["resources"]}
        assert weights == {GPU: demanded[units], "cpu": 1, "memory": 1}
        for lower in range(BELOW + 1):
            edited = deepcopy(mine)
            if lower:
                gpu_weight(demanded[units] - lower)(edited)
            profiles.append({**edited, "schedulerName": f"n{units}-{lower}"})
        pairs += [(units, used) for used in range(units - 1)]
    _fill_pairs(cluster, pairs)

    def probe(wanted, lower):
        """Whether the fuller node got the pod, for each pair."""
        asks = (
            (f"{units}-{used}", Ask(1, cpu="1", memory="1Gi", scheduler=f"n{units}-{lower}"))
            for units, used in wanted
        )
        pods = [
            pod(f"p-{name}", "team", replace(ask, node_selector={PAIR: name})) for name, ask in asks
        ]
        won = (node.startswith("fuller") for node in chosen(cluster, pods))
        return dict(zip(wanted, won, strict=True))

    with cluster.kube_scheduler(configuration(profiles)):
        for lower in range(BELOW + 1):
            found = probe(pairs, lower)
            for (units, used), won in found.items():
                weight = demanded[units] - lower
                want = outcome(units, used, weight)
                assert want == 0 or won == (want > 0), f"{units} a node, {used} used, {weight}"
    # One below, no pair is lost for certain. A tie goes by lot: of each pod until 1.34; since 1.35 of
    # the order in which a scheduler came to know the nodes (prioritizeNodes draws for extenders only).
    ties = [(n, used) for n, used in pairs if outcome(n, used, demanded[n] - 1) == 0]
    lost: set[int] = set()
    for _ in range(16):
        with cluster.kube_scheduler(configuration(profiles)):
            lost |= {units for (units, _), won in probe(ties, 1).items() if not won}
        ties = [(units, used) for units, used in ties if units not in lost]
        if not ties:
            break
    record_property("smallest weight of the GPU that packs", demanded)
    print(f"smallest weight of the GPU that packs, by GPUs a node: {demanded}")
    for units in UNITS:
        assert all(outcome(units, used, demanded[units]) > 0 for used in range(units - 1))
    assert lost == set(UNITS), "one below it does not pack"


def _fill_pairs(cluster, pairs):
    """For each pair a node with one GPU more in use, and one with full cpu and memory."""
    shapes, fillers = {}, []
    for units, used in pairs:
        name = f"{units}-{used}"
        full = Ask(used, cpu=f"{CORES - 1}", memory=f"{MEMORY_GI - 1}Gi")
        for side, ask in (("fuller", Ask(used + 1)), ("other", full)):
            node = f"{side}-{name}"
            shapes[node] = Shape(units, **SIZE, labels={PAIR: name})
            fillers.append(on_node(node, f"on-{node}", ask))
    add_nodes(cluster.client, shapes)
    cluster.create(*fillers)
    time.sleep(SETTLE_S)


def test_balance_alone_needs_less_than_a_hundred_points(cluster, record_property):
    """NodeResourcesBalancedAllocation gives 50 to 100 for two resources: 45 more here.

    One GPU of 8 is worth 12 times NodeResourcesFit's weight: 4 beats it, 3 does not. Were balance
    worth 100 points, it would take 9.
    """
    mine = profile_of(spec())
    drop_disabled(BALANCE)(mine)
    fit(mine)["resources"] = [{"name": GPU, "weight": 1}]
    profiles = []
    for weight in range(1, FIT_WEIGHT):
        edited = deepcopy(mine)
        fit_weight(weight)(edited)
        profiles.append({**edited, "schedulerName": f"w{weight}"})
    choice = Choice(BALANCE, None, (2, 1, 1), (1, 12, MEMORY_GI - 1), (115, 1))
    fill(cluster, {"0": choice})
    packs = []
    with cluster.kube_scheduler(configuration(profiles)):
        for weight in range(1, 7):
            (node,) = chosen(cluster, [chooser("0", choice, f"w{weight}")])
            packs.append(node == "first-0")
    record_property("packs beside balance with weight 1 to 6", packs)
    assert packs == [False, False, False, True, True, True]
