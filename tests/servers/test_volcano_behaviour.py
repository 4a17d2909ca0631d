"""How a real Volcano behaves with our queues and with each line of our scheduler configuration."""

import re
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from policygen.plan.volcano_configuration import SCORE_WEIGHT
from tests.servers.nodes import Shape, add_nodes
from tests.servers.volcano_specs import edited, pool, team, volcano
from tests.servers.workloads import GPU, VOLCANO_GROUP, VOLCANO_QUEUE, Ask, on_node, pod, vcjob

EXAMPLES = Path(__file__).parents[2] / "examples"
QUEUE = "scheduling.volcano.sh/v1beta1", "Queue"
VCJOB = "batch.volcano.sh/v1alpha1", "Job"
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
ONE, TWO = Ask(gpus=1), Ask(gpus=2)


def without(plugin, flag):
    """An edit of the configuration that removes one flag of a plugin."""
    return lambda config: edited(config, plugin, lambda entry: entry.pop(flag))


def without_action(action):
    """An edit of the configuration that removes one action."""

    def edit(config):
        found = yaml.load(config, Loader=yaml.CSafeLoader)
        actions = found["actions"].split(", ")
        actions.remove(action)
        return yaml.safe_dump({**found, "actions": ", ".join(actions)}, sort_keys=False)

    return edit


def started(cluster, out):
    """The rendered objects applied, and the nodes of all pools there; returns their names."""
    cluster.apply(out.text)
    return [name for facts in out.pools.values() for name in cluster.add_nodes(facts)]


def held(cluster, *namespaces):
    """GPUs in use of each namespace."""
    return tuple(cluster.bound(namespace) for namespace in namespaces)


def elastic(namespace, gpus, ask=TWO, *, name="elastic"):
    """A job of so many GPUs whose pods start one by one."""
    pods = gpus // ask.gpus
    return vcjob(name, namespace, ask, pods=pods, min_available=1, queue=f"{namespace}.train")


def gang(namespace, gpus, ask=TWO, *, name="gang", priority=None):
    """A job of so many GPUs whose pods start together."""
    pods, queue = gpus // ask.gpus, f"{namespace}.train"
    return vcjob(name, namespace, ask, pods=pods, queue=queue, priority=priority)


# Queues


def test_capability_is_never_exceeded(cluster):
    out = volcano(pool(4), team("nlp", {"guarantee": 8, "limit": 24}))
    started(cluster, out)
    with cluster.volcano(out.volcano_config):
        cluster.create(elastic("nlp", 40))
        cluster.becomes("up to the limit", lambda: held(cluster, "nlp"), (24,))
        cluster.stays("and no further", lambda: held(cluster, "nlp"), (24,))
        cluster.patch(*QUEUE, "nlp.train", {"spec": {"capability": {GPU: "32"}}})
        cluster.becomes("without the limit", lambda: held(cluster, "nlp"), (32,))


@pytest.mark.parametrize("claim", [elastic, gang])
def test_an_idle_share_is_lent_and_all_of_it_comes_back(cluster, claim):
    out = volcano(pool(3), *(team(name, {"guarantee": 8}) for name in "abc"))
    started(cluster, out)
    with cluster.volcano(out.volcano_config):
        cluster.create(elastic("b", 24))
        cluster.becomes("b has what is idle", lambda: held(cluster, *"abc"), (0, 24, 0))
        cluster.create(claim("a", 8))
        cluster.becomes("a came", lambda: held(cluster, *"abc"), (8, 16, 0))
        cluster.create(claim("c", 8))
        cluster.becomes("c came", lambda: held(cluster, *"abc"), (8, 8, 8))
        cluster.stays("all have their share", lambda: held(cluster, *"abc"), (8, 8, 8), for_s=1.5)


def test_weights_divide_what_guarantees_leave(cluster):
    out = volcano(
        pool(3), team("a", {"guarantee": 4, "weight": 3}), team("b", {"guarantee": 4, "weight": 1})
    )
    started(cluster, out)
    with cluster.volcano(out.volcano_config):
        cluster.create(elastic("a", 24))
        cluster.becomes("a has all", lambda: held(cluster, *"ab"), (24, 0))
        cluster.create(elastic("b", 24))
        # 24 - 8 = 16 are free: 12 to a and 4 to b.
        cluster.becomes("b has its share", lambda: held(cluster, *"ab"), (16, 8))
        cluster.stays("and a keeps its own", lambda: held(cluster, *"ab"), (16, 8), for_s=1.5)


def test_no_queue_takes_from_within_a_guarantee(cluster):
    """The first tier that names victims decides: in a second one `capacity` is not asked."""
    out = volcano(pool(2), *(team(name, {"guarantee": 8}) for name in "ac"))
    first, _ = started(cluster, out)
    there = Ask(gpus=2, node_selector={HOST: first})
    with cluster.volcano(out.volcano_config):
        cluster.create(elastic("a", 8, there))
        cluster.becomes("a has its guarantee", lambda: held(cluster, "a"), (8,))
        cluster.create(gang("c", 4, there))
        cluster.stays("c waits", lambda: held(cluster, *"ac"), (8, 0), for_s=2.5)
    found = yaml.load(out.volcano_config, Loader=yaml.CSafeLoader)
    upper, lower = (tier["plugins"] for tier in found["tiers"])
    lower.append(upper.pop())
    assert lower[-1]["name"] == "capacity"
    with cluster.volcano(yaml.safe_dump(found)):
        cluster.until("c took some of it", lambda: cluster.bound("a") < 8)


def test_children_share_what_their_parent_has(cluster):
    """Of the 8 that guarantees leave each root team has 4, and a and b 2 each of those."""
    out = volcano(
        pool(3),
        team("parent", {"guarantee": 12, "limit": 16}, namespaces=False),
        team("a", {"guarantee": 8}, parent="parent"),
        team("b", {"guarantee": 4}, parent="parent"),
        team("other", {"guarantee": 4}),
    )
    started(cluster, out)
    names = ("a", "b", "other")
    with cluster.volcano(out.volcano_config):
        cluster.create(elastic("b", 24))
        cluster.becomes("up to the parent's limit", lambda: held(cluster, *names), (0, 16, 0))
        cluster.create(elastic("other", 24))
        cluster.becomes("the rest is lent", lambda: held(cluster, *names), (0, 16, 8))
        cluster.create(elastic("a", 24))
        cluster.becomes("a has its share", lambda: held(cluster, *names), (10, 6, 8))
        cluster.stays("b keeps its own", lambda: held(cluster, *names), (10, 6, 8), for_s=1.5)


def test_without_the_hierarchy_children_outgrow_their_parent(cluster):
    out = volcano(
        pool(3),
        team("parent", {"guarantee": 8, "limit": 16}, namespaces=False),
        *(team(name, {"guarantee": 4}, parent="parent") for name in "ab"),
    )
    started(cluster, out)
    with cluster.volcano(out.volcano_config):
        cluster.create(*(elastic(name, 12) for name in "ab"))
        cluster.becomes("the parent's limit", lambda: sum(held(cluster, *"ab")), 16)
        cluster.stays("and no more", lambda: sum(held(cluster, *"ab")), 16)
    with cluster.volcano(without("capacity", "enableHierarchy")(out.volcano_config)):
        cluster.becomes("each up to its own", lambda: held(cluster, *"ab"), (12, 12))


def test_without_preemption_a_guarantee_is_reserved(cluster):
    teams = [team(name, {"guarantee": 8}) for name in "ab"]
    out = volcano(pool(3, policy="preemptionEnabled: false"), *teams)
    started(cluster, out)
    with cluster.volcano(out.volcano_config):
        cluster.create(elastic("b", 24))
        cluster.becomes("b has what is not reserved", lambda: held(cluster, *"ab"), (0, 16))
        cluster.stays("and no more", lambda: held(cluster, *"ab"), (0, 16))
        cluster.create(elastic("a", 24))
        cluster.becomes("a has its guarantee at once", lambda: held(cluster, *"ab"), (8, 16))
        cluster.stays("nobody is evicted", lambda: held(cluster, *"ab"), (8, 16))


def test_two_teams_together_use_a_reserved_guarantee(cluster):
    """Volcano limits each queue by the guarantees of all others, but not their sum."""
    teams = [team(name, {"guarantee": 4}) for name in "abc"]
    out = volcano(pool(3, policy="preemptionEnabled: false"), *teams)
    assert [it.rule.name for it in out.findings].count("guarantee-not-enforced") == 3
    started(cluster, out)
    with cluster.volcano(out.volcano_config):
        cluster.create(elastic("b", 24))
        cluster.becomes("b has what is not reserved", lambda: held(cluster, *"abc"), (0, 16, 0))
        cluster.create(elastic("c", 24))
        cluster.becomes("c has also the guarantee of a", lambda: held(cluster, *"abc"), (0, 16, 8))
        cluster.create(elastic("a", 4))
        cluster.stays("nobody is evicted", lambda: held(cluster, *"abc"), (0, 16, 8))


# Gangs


def test_a_gang_starts_completely_or_not_at_all(cluster):
    out = volcano(pool(3), team("a", {"guarantee": 24}))
    first, *_ = started(cluster, out)
    node = Ask(gpus=8)
    with cluster.volcano(out.volcano_config):
        cluster.create(on_node(first, "early", "other", node))
        cluster.create(gang("a", 24, node))
        cluster.until("it waits", lambda: len(cluster.waiting("a")) == 3)
        cluster.stays("not a part of it runs", lambda: held(cluster, "a"), (0,))
        cluster.delete("v1", "Pod", "early", "other")
        cluster.becomes("room for all of it", lambda: held(cluster, "a"), (24,))
        cluster.delete(*VCJOB, "gang", "a")
        cluster.becomes("all is free", lambda: len(cluster.pods()), 0)
        cluster.create(on_node(first, "late", "other", node))
        cluster.create(elastic("a", 24, node))
        cluster.becomes("what is no gang starts in part", lambda: held(cluster, "a"), (16,))


def test_tasks_that_repel_each_other_need_a_node_for_each_pod(cluster):
    """What the rule replicas-exceed-nodes reports: each task alone has room, but not both."""
    out = volcano(pool(3), team("a", {"guarantee": 24}))
    started(cluster, out)
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "gang"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}

    def two_tasks(name, leaders):
        job = vcjob(name, "a", ONE, pods=2, min_available=leaders + 2, queue="a.train")
        (workers,) = job["spec"]["tasks"]
        workers["template"].setdefault("metadata", {})["labels"] = {"app": "gang"}
        workers["template"]["spec"]["affinity"] = apart
        job["spec"]["tasks"] = [{**workers, "name": "leaders", "replicas": leaders}, workers]
        return job

    with cluster.volcano(out.volcano_config):
        cluster.create(two_tasks("four", 2))
        cluster.until("it waits", lambda: len(cluster.waiting("a")) == 4)
        cluster.stays("not a part of it runs", lambda: held(cluster, "a"), (0,))
        cluster.delete(*VCJOB, "four", "a")
        cluster.becomes("it is deleted", lambda: len(cluster.pods("a")), 0)
        cluster.create(two_tasks("three", 1))
        cluster.becomes("three pods run", lambda: held(cluster, "a"), (3,))


def test_a_rendered_pod_group_waits_for_its_last_member(cluster):
    model = """
        apiVersion: policygen.dev/v1alpha1
        kind: Model
        metadata: {name: llm}
        spec:
          team: a
          workload: training
          resources: {gpus: 2, cpu: 8, memory: 64Gi}
          gang: {size: 4}
        """
    out = volcano(pool(3), team("a", {"guarantee": 24}), dedent(model))
    started(cluster, out)
    (name,) = out.of("PodGroup")
    mine = {VOLCANO_GROUP: name}
    member = Ask(gpus=2, cpu="8", memory="64Gi", scheduler="volcano", annotations=mine)
    with cluster.volcano(out.volcano_config):
        cluster.create(*(pod(f"m{i}", "a", member) for i in range(3)))
        cluster.stays("three of four wait", lambda: held(cluster, "a"), (0,))
        cluster.create(pod("m3", "a", member))
        cluster.becomes("four run", lambda: held(cluster, "a"), (8,))


@pytest.mark.parametrize("restarts, left", [(False, 4), (True, 0)])
def test_a_gang_that_borrowed_gives_only_the_pods_that_are_claimed(cluster, restarts, left):
    """The remaining pods keep running, unless the job has the policy to restart as one."""
    model = """
        apiVersion: policygen.dev/v1alpha1
        kind: Model
        metadata: {name: gang}
        spec:
          team: b
          workload: training
          resources: {gpus: 1}
          gang: {size: 8, runAs: vcjob}
        """
    out = volcano(pool(1), *(team(name, {"guarantee": 4}) for name in "ab"), dedent(model))
    [found] = [it.message for it in out.findings if it.rule.name == "gang-on-borrowed-gpus"]
    assert 'needs 8 nvidia.com/gpu, but team "b" deserves only 4 nvidia.com/gpu' in found
    started(cluster, out)
    lent = gang("b", 8)
    if restarts:
        lent["spec"]["policies"] = [{"event": "PodEvicted", "action": "RestartJob"}]
    with cluster.volcano(out.volcano_config):
        cluster.create(lent)
        cluster.becomes("b has both shares", lambda: held(cluster, *"ab"), (0, 8))
        cluster.create(gang("a", 4))
        cluster.becomes("a has its own", lambda: held(cluster, *"ab"), (4, left))
        cluster.stays("and b the rest or none", lambda: held(cluster, *"ab"), (4, left))


# Actions and flags: without each, and then with it


@pytest.mark.parametrize(
    "edit, job, lacks",
    [
        (without_action("reclaim"), elastic, 0),
        (without("gang", "enableReclaimable"), gang, 0),
        (without("gang", "enableJobStarving"), elastic, 2),  # its minMember
    ],
    ids=["reclaim", "enableReclaimable", "enableJobStarving"],
)
def test_a_lent_share_comes_back_because_of(cluster, edit, job, lacks):
    out = volcano(pool(2), *(team(name, {"guarantee": 8}) for name in "ab"))
    started(cluster, out)
    with cluster.volcano(edit(out.volcano_config)):
        cluster.create(job("b", 16))
        cluster.becomes("b has all", lambda: held(cluster, *"ab"), (0, 16))
        cluster.create(job("a", 8))
        cluster.becomes("without it", lambda: held(cluster, "a"), (lacks,))
        cluster.stays("without it", lambda: held(cluster, "a"), (lacks,), for_s=3)
    with cluster.volcano(out.volcano_config):
        cluster.becomes("with it", lambda: held(cluster, "a"), (8,))


PRIORITIES = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: set}
spec: {priorities: [{name: high, value: 900}, {name: low, value: 300}]}
"""


@pytest.mark.parametrize(
    "edit",
    [without_action("preempt"), without("gang", "enablePreemptable")],
    ids=["preempt", "enablePreemptable"],
)
def test_a_higher_priority_displaces_a_gang_because_of(cluster, edit):
    out = volcano(PRIORITIES, pool(1), team("a", {"guarantee": 8}))
    started(cluster, out)

    def running(priority):
        mine = (p["spec"] for p in cluster.pods("a") if p["spec"]["priorityClassName"] == priority)
        return sum("nodeName" in spec for spec in mine)

    with cluster.volcano(edit(out.volcano_config)):
        low, high = (Ask(gpus=2, priority=name) for name in ("low", "high"))
        cluster.create(gang("a", 8, low, name="low", priority="low"))
        cluster.becomes("all of the low one", lambda: running("low"), 4)
        cluster.create(gang("a", 4, high, name="high", priority="high"))
        cluster.stays("without it", lambda: running("high"), 0, for_s=3)
    with cluster.volcano(out.volcano_config):
        cluster.becomes("with it", lambda: running("high"), 2)


@pytest.mark.parametrize("action, gpus", [("allocate", 1), ("backfill", 0)])
def test_pods_start_because_of(cluster, action, gpus):
    """Backfill starts pods without requests."""
    out = volcano(pool(1), team("a", {"guarantee": 8}))
    started(cluster, out)
    ask = Ask(gpus=gpus, scheduler="volcano", annotations={VOLCANO_QUEUE: "a.train"})
    with cluster.volcano(without_action(action)(out.volcano_config)):
        cluster.create(pod("it", "a", ask))
        cluster.stays("without it", lambda: cluster.waiting("a"), ["it"], for_s=3)
    with cluster.volcano(out.volcano_config):
        cluster.becomes("with it", lambda: cluster.waiting("a"), [])


# Node groups


def test_queues_keep_to_their_node_group(cluster):
    """Packing alone would choose the other pool's node, where one GPU is in use."""
    label = "volcano.sh/nodegroup-name"
    out = volcano(
        *(pool(1, name=name, labels=f"{label}: {name}") for name in ("train", "night")),
        team("a", {"guarantee": 8}),
        team("b", {"guarantee": 8}, pool="night"),
    )
    started(cluster, out)
    cluster.create(on_node("night-0", "filler", "b", ONE))

    def here():
        return cluster.placement(namespace="a")

    with cluster.volcano(out.volcano_config):
        cluster.create(elastic("a", 4))
        cluster.becomes("its own node", here, {"night-0": 0, "train-0": 4})
        cluster.delete(*VCJOB, "elastic", "a")
        cluster.becomes("gone", lambda: len(cluster.pods("a")), 0)
    found = yaml.load(out.volcano_config, Loader=yaml.CSafeLoader)
    for tier in found["tiers"]:
        tier["plugins"] = [plugin for plugin in tier["plugins"] if plugin["name"] != "nodegroup"]
    with cluster.volcano(yaml.safe_dump(found)):
        cluster.create(elastic("a", 4, name="again"))
        cluster.becomes("the fuller node", here, {"night-0": 4, "train-0": 0})


def test_queues_without_a_node_group_keep_the_other_nodes(cluster):
    """Because nodegroup is not strict."""
    out = volcano(pool(1, labels="volcano.sh/nodegroup-name: train"), team("a", {"guarantee": 8}))
    started(cluster, out)
    cluster.add_nodes(Shape(gpus=8), prefix="plain")
    strict = edited(out.volcano_config, "nodegroup", lambda entry: entry["arguments"].pop("strict"))
    with cluster.volcano(strict):
        cluster.create(pod("it", "other", Ask(gpus=1, scheduler="volcano")))
        cluster.stays("strictly", lambda: cluster.waiting("other"), ["it"], for_s=3)
    with cluster.volcano(out.volcano_config):
        cluster.becomes("as rendered", lambda: cluster.waiting("other"), [])
    assert cluster.placement() == {"plain-0": 1, "train-0": 0}


# Packing and spreading

SERVING = Ask(gpus=1, cpu="4", memory="32Gi")


@pytest.mark.parametrize(
    "policy, steps",
    [
        ("binPack: true", {6: [0, 0, 0, 6], 10: [0, 0, 2, 8], 20: [0, 4, 8, 8]}),
        ("spread: true", {4: [1, 1, 1, 1], 10: [2, 2, 3, 3], 20: [5, 5, 5, 5]}),
    ],
)
def test_packing_fills_node_after_node_and_spreading_does_not(cluster, policy, steps):
    out = volcano(pool(4, policy=policy), team("a", {"guarantee": 32}))
    started(cluster, out)
    there = 0
    with cluster.volcano(out.volcano_config):
        for pods, want in steps.items():
            cluster.create(elastic("a", pods - there, SERVING, name=f"to-{pods}"))
            there = pods
            cluster.becomes(f"{pods} pods", lambda: sorted(cluster.placement().values()), want)


def test_volcano_alone_scatters_the_same_pods(cluster, record_property):
    out = volcano(pool(4, policy="binPack: false"), team("a", {"guarantee": 32}))
    started(cluster, out)
    with cluster.volcano(out.volcano_config):
        cluster.create(elastic("a", 6, SERVING))
        cluster.becomes("6 pods", lambda: held(cluster, "a"), (6,))
        found = sorted(cluster.placement().values())
    record_property("six pods on four nodes, neither packed nor spread", found)
    assert found[-1] < 6


@pytest.mark.parametrize("level, want", [(HOST, [0, 0, 0, 4]), (ZONE, [1, 1, 1, 1])])
def test_spread_constraints_over_hosts_count_nothing(cluster, level, want):
    """Even where they weigh a hundred times as much as packing; those over zones do count."""
    out = volcano(pool(4), team("a", {"guarantee": 32}))
    cluster.apply(out.text)
    shapes = {f"n-{zone}": Shape(labels={ZONE: zone}) for zone in "abcd"}
    add_nodes(cluster.client, shapes)
    constraint = {
        "maxSkew": 1,
        "topologyKey": level,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    job = elastic("a", 4, Ask(gpus=1, labels={"app": "web"}))
    (task,) = job["spec"]["tasks"]
    task["template"]["spec"]["topologySpreadConstraints"] = [constraint]
    much = {"podtopologyspread.weight": 100 * SCORE_WEIGHT}
    loud = edited(out.volcano_config, "nodeorder", lambda p: p["arguments"].update(much))
    with cluster.volcano(loud):
        cluster.create(job)
        cluster.becomes("four pods", lambda: held(cluster, "a"), (4,))
    assert sorted(cluster.placement().values()) == want


# Every configuration that is rendered

MIG = "perNode: 8, product: NVIDIA-A100-SXM4-80GB, sharing: mig, mig: {instances: {1g.10gb: 7}}"
NODE_GROUP = "volcano.sh/nodegroup-name: train"
SPECS = {
    "packs": pool(policy="binPack: true"),
    "spreads": pool(policy="spread: true"),
    "does neither": pool(policy="binPack: false"),
    "preempts nothing": pool(policy="preemptionEnabled: false"),
    "has node groups": pool(labels=NODE_GROUP),
    "packs MIG instances": pool(gpu=MIG),
    **{
        f"example {name}": (EXAMPLES / name / "policy.yaml").read_text(encoding="utf-8")
        for name in ("volcano-training", "three-schedulers")
    },
}
ERROR = re.compile(r"^(?:[EF]\d{4} |panic:|fatal error:).*", re.MULTILINE)
SESSIONS = re.compile(r"Open Session")


def logged(cluster, config, sessions=2):
    """Error lines of a scheduler's log after some scheduling sessions."""
    before = set(cluster.bench.processes)
    with cluster.volcano(config):
        (name,) = set(cluster.bench.processes) - before
        log = cluster.bench.processes[name].log
        cluster.until("sessions", lambda: len(SESSIONS.findall(log.read_text())) >= sessions)
        return ERROR.findall(log.read_text(encoding="utf-8"))


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_what_is_rendered_loads_without_an_error_line(cluster, spec):
    teams = () if "kind: Team" in spec else (team("a", {"guarantee": 1}),)
    if spec is SPECS["packs MIG instances"]:
        teams = (team("a", {"guarantee": {"1g.10gb": 1}}),)
    out = volcano(spec, *teams)
    cluster.apply(out.text)
    assert logged(cluster, out.volcano_config) == []


def test_an_error_line_is_seen(cluster):
    out = volcano(SPECS["packs"], team("a", {"guarantee": 1}))
    wrong = out.volcano_config.replace("name: conformance", "name: conformity")
    assert any("conformity" in line for line in logged(cluster, wrong))
