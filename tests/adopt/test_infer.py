"""Specs inferred from rendered objects render the same bytes.

`python -m tests.adopt.test_infer COUNT SEED [workloads]` draws more specs, and prints how many do. On standard error, a
line for each spec has its objects and its processor time in seconds: to draw it, to render it, and for the way back.
"""

import difflib
import itertools
import json
import re
import sys
import time
from pathlib import Path

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from policygen.adopt.spec_data import documents
from policygen.adopt.write import write
from policygen.documents.files import Source
from policygen.plan.extras import NODE_AUTOSCALER, WORKLOADS
from policygen.spec.types import NodeClass
from tests.adopt.round_trip import adopted, again, cluster, rendered, written
from tests.properties.test_plan import FEW
from tests.strategies import SCHEDULERS, specs

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(it.name for it in (ROOT / "examples").iterdir() if (it / "expected").is_dir())
EXTRAS = (frozenset(), frozenset({WORKLOADS}))
SHARED_NAMESPACE = "articles"
"""Its queues share a namespace, which only the ConfigMap of the articles can say."""


def text_of(documents):
    return "\n---\n".join(json.dumps(each, ensure_ascii=False) for each in documents)


@pytest.mark.parametrize("extras", EXTRAS, ids=["alone", WORKLOADS])
@pytest.mark.parametrize("name", [it for it in EXAMPLES if it != SHARED_NAMESPACE])
def test_the_adopted_spec_of_an_example_renders_the_same_bytes(name, extras):
    paths = sorted((ROOT / "examples" / name).glob("*.yaml"))
    sources = [Source(str(it), it.read_text("utf-8"), it) for it in paths]
    first = rendered(*sources, extras=extras)
    assert again(first, extras) == first


@settings(FEW, max_examples=16, derandomize=True, phases=[Phase.generate])
@given(specs(schedulers=SCHEDULERS), st.sampled_from(EXTRAS))
def test_the_adopted_spec_renders_the_same_bytes(documents, extras):
    first = rendered(Source("spec.yaml", text_of(documents), None), extras=extras)
    assert again(first, extras) == first


HAND = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {gpu: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: research}
spec: {parentName: all}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: Team-A.cq}
spec:
  cohortName: research
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 8, borrowingLimit: 0}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team-b}
spec:
  cohortName: research
  fairSharing: {weight: "2"}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: b}}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: user-queue, namespace: a}
spec: {clusterQueue: Team-A.cq}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus, namespace: notebooks}
spec: {hard: {requests.amd.com/gpu: 2}}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {gpu: a100}}
status: {allocatable: {cpu: 90, memory: 900Gi, nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {gpu: a100}}
status: {allocatable: {cpu: 95, memory: 900Gi, nvidia.com/gpu: 8}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: system-cluster-critical}
value: 2000000000
"""


def test_hand_written_queues():
    spec = adopted(HAND, rendered=False).spec
    pools = {it.name: it for it in spec.pools}
    assert set(pools) == {"a100", "amd-gpu"}
    capacity = pools["a100"].capacity
    assert (capacity.nodes, capacity.available_gpus) == (2, 12)
    assert capacity.node_allocatable.cpu_milli == 90_000  # of the smallest node
    assert pools["amd-gpu"].scheduler == "kube-scheduler"
    teams = {it.name: it for it in spec.teams}
    assert {it: teams[it].parent for it in teams} == {
        "notebooks": None,
        "research": None,
        "team-a-cq": "research",
        "team-b": "research",
    }
    assert [it.name for it in teams["team-a-cq"].namespaces] == ["a"]
    assert [it.name for it in teams["team-b"].namespaces] == ["b"]
    (first,), (second,) = teams["team-a-cq"].quotas, teams["team-b"].quotas
    assert (first.guarantee, first.limit) == ((("", 8),), (("", 8),))
    assert (second.guarantee, second.limit, second.weight) == ((("", 4),), None, 2)
    assert spec.platform.priorities == ()


def test_the_node_class_of_a_node_pool_is_adopted():
    name = "node-autoscalers"
    (path,) = (ROOT / "examples" / name).glob("*.yaml")
    extras = frozenset({NODE_AUTOSCALER})
    first = rendered(Source(str(path), path.read_text("utf-8"), path), extras=extras)
    pools = {it.name: it.autoscaler for it in adopted(first).spec.pools}
    assert pools["h100"].node_class == NodeClass("karpenter.k8s.aws", "EC2NodeClass", "gpu")
    assert pools["a100"].provisioning_class == "check-capacity.autoscaling.x-k8s.io"


def test_queues_of_one_namespace_leave_it_to_the_first():
    text = HAND.replace(
        "matchLabels: {kubernetes.io/metadata.name: b}",
        "matchLabels: {kubernetes.io/metadata.name: a}",
    )
    inferred = adopted(text, rendered=False)
    spaces = {team.name: [it.name for it in team.namespaces] for team in inferred.spec.teams}
    assert (spaces["team-a-cq"], spaces["team-b"]) == (["a"], ["team-b"])
    why = "namespace a and its models are those of team team-a-cq, because a namespace of the spec has only one team"
    texts = {it.text for it in inferred.guesses if (it.kind, it.name) == ("Team", "team-b")}
    assert texts == {f"Guess: {why}."}
    assert inferred.left == (("ClusterQueue team-b", why),)


def test_limits_above_the_pool_are_those_of_the_pool():
    text = HAND.replace("borrowingLimit: 0", "borrowingLimit: 100")
    spec = adopted(text, rendered=False).spec
    (quota,) = next(it for it in spec.teams if it.name == "team-a-cq").quotas
    assert quota.limit is None


def test_values_of_the_system_are_no_priority_of_a_spec():
    high = HAND.replace("{name: system-cluster-critical}", "{name: mine}")
    assert adopted(high, rendered=False).spec.platform.priorities == ()


@pytest.mark.parametrize(
    ("old", "new"), [("{parentName: all}", "{parentName: research}"), ("{name: research}", "{}")]
)
def test_cohorts_in_a_cycle_or_without_a_name_do_not_hang(old, new):
    assert len(cluster(HAND).cohorts) == 1
    refused = HAND.replace(old, new, 1)
    assert {it.name for it in adopted(refused, rendered=False).spec.pools} >= {"a100"}


def test_queues_of_kueue_and_volcano_that_contradict_each_other_do_not_hang():
    """For one, the team of `research` is above that of `team-b`, for the other below it."""
    more = HAND.replace(
        "kubernetes.io/metadata.name: b}", "kubernetes.io/metadata.name: notebooks}"
    )
    for name, parent in (("team-b", "root"), ("research", "team-b")):
        more += f"""---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}}}
spec: {{parent: {parent}, capability: {{example.com/gpu: 8}}}}
"""
    found = {it.name: it.parent for it in adopted(more, rendered=False).spec.teams}
    assert (found["team-b"], found["research"]) == ("research", None)


INVALID = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default.binpack
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: nvidia.com/gpu, weight: null}, {name: cpu, weight: x}]}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: v, labels: {policygen.dev/set: default}}
spec: {reclaimable: false, capability: {nvidia.com/gpu: 8}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: one.v, labels: {policygen.dev/set: default}}
spec: {parent: v, deserved: {nvidia.com/gpu: 4}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: two.v, labels: {policygen.dev/set: default}}
spec: {parent: v, deserved: {nvidia.com/gpu: four, gpu.com/x: [1]}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {tolerations: [{key: 1, operator: Exists, tolerationSeconds: x}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 5
description: [1]
"""


@pytest.mark.parametrize("of_set", [True, False])
def test_values_that_a_server_refuses_are_not_adopted(of_set):
    invalid = HAND.replace("---", f"---{INVALID}---", 1)
    text = written(adopted(invalid, rendered=of_set))
    assert "kind: Team" in text
    assert not {"four", "tolerationSeconds", "description"} & set(re.findall("[A-Za-z]+", text))


QUOTAS_OF_A_PARENT = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: v}
spec:
  nodeSelector: {pool: v}
  gpu: {product: h100-80gb}
  capacity: {nodes: 4, nodeType: a3-highgpu-8g}
  scheduler: volcano
  schedulingPolicy: {preemptionEnabled: false}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: k}
spec:
  nodeSelector: {pool: k}
  gpu: {resource: example.com/card, memory: 80Gi, perNode: 8}
  capacity: {nodes: 4, nodeAllocatable: {cpu: 64, memory: 256Gi}}
  scheduler: kube-scheduler
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: lab}
spec:
  namespaces: [{name: lab-0}, {name: lab-1}]
  quotas: [{pool: v, guarantee: 12}, {pool: k, limit: 21}]
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: child}
spec:
  parent: lab
  maxPending: 3
  namespaces: [{name: child-0}]
  quotas: [{pool: v, guarantee: 4}, {pool: k, limit: 9}]
"""


def test_a_parent_with_a_queue_keeps_the_namespaces_that_only_have_quotas():
    first = rendered(Source("spec.yaml", QUOTAS_OF_A_PARENT, None))
    assert "namespace: lab\n" not in first
    assert again(first) == first


def pool(name, resource="nvidia.com/gpu", **spec):
    fields = {
        "nodeSelector": {"pool": name},
        "gpu": {"resource": resource, "memory": "80Gi", "perNode": 8},
        "capacity": {"nodes": 4, "nodeAllocatable": {"cpu": 64, "memory": "256Gi"}},
    }
    return ("ResourcePool", name, fields | spec)


def team(name, quotas, **spec):
    listed = [{"pool": key, **value} for key, value in quotas.items()]
    return ("Team", name, {"namespaces": [{"name": f"{name}-0"}], "quotas": listed} | spec)


KUBE = {"scheduler": "kube-scheduler"}
DEFAULTS = {"containerDefaults": {"cpu": 1, "memory": "1Gi"}}
NOTHING_LEFT = {"schedulingPolicy": {"overcommitRatio": 1}}
LIMITS_THAT_NO_FIELD_HAS = {
    "overcommitRatio leaves nothing to a team": [
        pool("k", **NOTHING_LEFT),
        team("all", {"k": {"guarantee": 32, "limit": 32}}),
        team("rest", {"k": {"guarantee": 0}}),
    ],
    "overcommitRatio leaves nothing in a pool of kube-scheduler": [
        pool("k", **NOTHING_LEFT, **KUBE),
        team("all", {"k": {"limit": 32}}),
        team("rest", {"k": {}}, maxPending=3),
    ],
    "overcommitRatio leaves nothing to a team with a queue": [
        pool("q"),
        pool("k", "example.com/a", **NOTHING_LEFT, **KUBE),
        team("all", {"q": {}, "k": {"limit": 32}}),
        team("rest", {"q": {}, "k": {}}),
    ],
    "a team with a team above can use nothing": [
        pool("k", **KUBE),
        team("all", {"k": {"limit": 8}}),
        team("rest", {"k": {"limit": 0}}, parent="all"),
    ],
    "namespaces of teams with queues can use nothing": [
        pool("v", scheduler="volcano"),
        pool("k", "example.com/a", **KUBE),
        team("all", {"v": {}, "k": {"limit": 8}}),
        team("rest", {"v": {}, "k": {"limit": 0}}, parent="all"),
        team("none", {"v": {}, "k": {"limit": 0}}),
    ],
    "a label of one pool is the name of another": [
        pool("k", nodeSelector={"pool": "k", "model": "v"}),
        pool("v", scheduler="volcano"),
        team("both", {"k": {"guarantee": 8}, "v": {"guarantee": 8}}),
    ],
    "a backstop beside a team whose namespaces are not limited": [
        pool("v", scheduler="volcano", quotaBackstop=True),
        team("lab", {"v": {"guarantee": 8}}),
        team("office", {"v": {"guarantee": 8}}, namespaces=[]),
        team("desk", {}, parent="office"),
    ],
    "a cohort without a queue": [
        pool("q"),
        pool("v", scheduler="volcano"),
        team("lab", {"q": {"guarantee": 8}, "v": {"guarantee": 8}}, namespaces=[]),
        team("desk", {}, parent="lab"),
    ],
    "only one of two resources is counted with cpu": [
        pool("v", scheduler="volcano"),
        pool("plain", "example.com/a", **KUBE),
        pool("cpu", "example.com/b", quotaCpuAndMemory=True, **KUBE),
        team("lab", {"v": {}, "plain": {"limit": 4}, "cpu": {"limit": 4}}, **DEFAULTS),
        team("more", {"v": {}, "plain": {"limit": 8}, "cpu": {"limit": 8}}, **DEFAULTS),
        team("child", {"v": {}, "plain": {"limit": 2}}, parent="lab", **DEFAULTS),
        team("grandchild", {"v": {}, "plain": {"limit": 2}}, parent="child", **DEFAULTS),
    ],
}


@pytest.mark.parametrize("name", LIMITS_THAT_NO_FIELD_HAS)
def test_limits_that_no_field_of_a_quota_has(name):
    documents = [
        {"apiVersion": "policygen.dev/v1alpha1", "kind": kind, "metadata": {"name": of}, "spec": it}
        for kind, of, it in LIMITS_THAT_NO_FIELD_HAS[name]
    ]
    first = rendered(Source("spec.yaml", text_of(documents), None))
    assert again(first) == first


def mig_pool(gpu, **spec):
    return pool(
        "m", **{"gpu": {"sharing": "mig", **gpu}, "schedulingPolicy": {"binPack": True}} | spec
    )


def single(profile, count):
    mig = {"strategy": "single", "instances": {profile: count}}
    return {"mig": mig, "resource": "example.com/card", "memory": "24Gi"}


MIG_THAT_PODS_SHOW = {
    "a card of this product has fewer instances than one of an unknown product": mig_pool(
        {"product": "NVIDIA-A30", "perNode": 1, "mig": {"instances": {"1g.6gb": 27}}},
        capacity={"nodes": 11, "nodeAllocatable": {"cpu": "31850m", "memory": "182564Mi"}},
    ),
    "many other nodes make the same sums": mig_pool(
        {**single("3g.20gb", 104), "perNode": 8},
        scheduler="volcano",
        capacity={"totalGPUs": 80, "nodeAllocatable": {"cpu": "10.001", "memory": "805306368Ki"}},
    ),
    "the last node has fewer cards": mig_pool(
        {**single("7g.80gb", 2940), "perNode": 4},
        scheduler="volcano",
        capacity={
            "availableGPUs": 3191,
            "totalGPUs": 1000000,
            "nodeAllocatable": {"cpu": "191970m", "memory": "10738466816"},
        },
    ),
    "the spec sets no cpu and memory of a gang, and some cards are not available": mig_pool(
        {"memory": "80G", "perNode": 4, "mig": {"instances": {"3g.20gb": 433}}},
        scheduler="volcano",
        capacity={
            "availableGPUs": 253,
            "totalGPUs": 256,
            "nodeAllocatable": {"cpu": "7m", "memory": "786432Mi"},
        },
    ),
}


@pytest.mark.parametrize("name", MIG_THAT_PODS_SHOW)
def test_nodes_with_mig_instances_that_only_pods_show(name):
    gang = {"gang": {"size": 4}} if name.startswith("the spec") else {}
    gpus = 1 if MIG_THAT_PODS_SHOW[name][2].get("scheduler") is None else 2  # Kueue: of one card
    documents = [
        {"apiVersion": "policygen.dev/v1alpha1", "kind": kind, "metadata": {"name": of}, "spec": it}
        for kind, of, it in (
            MIG_THAT_PODS_SHOW[name],
            team("lab", {"m": {}}),
            (
                "Model",
                "train",
                {"team": "lab", "workload": "training", "resources": {"gpus": gpus}, **gang},
            ),
        )
    ]
    extras = frozenset({WORKLOADS})
    first = rendered(Source("spec.yaml", text_of(documents), None), extras=extras)
    assert again(first, extras) == first


def main(count, number, extras):
    """Draw specs of all schedulers, and print how many differ, and how."""
    drawn, others, ended = [0], [], [time.process_time()]

    @seed(number)
    @settings(FEW, max_examples=count, database=None, phases=[Phase.generate])
    @given(specs(schedulers=SCHEDULERS))
    def draw(documents):
        times = [ended[0], time.process_time()]
        first = rendered(Source("spec.yaml", text_of(documents), None), extras=extras)
        drawn[0] += 1
        times.append(time.process_time())
        try:
            second = again(first, extras)
        except AssertionError as error:
            others.append((text_of(documents), str(error)))
            return
        finally:
            times.append(time.process_time())
            ended[0] = times[-1]
            spent = " ".join(f"{end - begin:.2f}" for begin, end in itertools.pairwise(times))
            progress = f"{drawn[0]} of {count}: {first.count('---')} objects, {spent} s"
            sys.stderr.write(f"{progress}, {len(others)} differ\n")
        if first != second:
            lines = first.splitlines(), second.splitlines()
            others.append(
                (text_of(documents), "\n".join(difflib.unified_diff(*lines, lineterm="")))
            )

    draw()
    lines = [f"{drawn[0] - len(others)} of {drawn[0]} render the same bytes"]
    sys.stdout.write("\n".join([*lines, *(it for pair in others[:3] for it in pair), ""]))


def test_a_queue_without_a_name_is_a_guess():
    text = HAND.replace("metadata: {name: Team-A.cq}", "metadata: {}")
    inferred = adopted(text, rendered=False)
    (guess,) = (it for it in inferred.guesses if it.path == ("metadata", "name"))
    assert guess.text == "Guess: the queue has no name."
    assert (
        "ClusterQueue",
        f"the queue has no name, so servers refuse it; the spec calls its team {guess.name}",
    ) in (inferred.left)


SYSTEM = """---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: system-node-critical}
value: 2000001000
preemptionPolicy: PreemptLowerPriority
"""


ONLY_PRIORITIES = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: default}
spec: {priorities: [{name: high, value: 1000}], defaults: {scheduler: kube-scheduler}}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: k}
spec:
  nodeSelector: {pool: k}
  gpu: {product: h100-80gb}
  capacity: {nodes: 4, nodeType: a3-highgpu-8g}
  schedulingPolicy: {binPack: false, preemptionEnabled: false}
"""


def test_priorities_without_classes_of_kueue_show_another_scheduler():
    first = rendered(Source("spec.yaml", ONLY_PRIORITIES, None))
    assert "kind: PriorityClass" in first
    assert again(first) == first


def test_the_classes_of_every_cluster_show_no_pool():
    assert adopted(SYSTEM, rendered=False).spec.pools == ()
    only_kueue = adopted(HAND + SYSTEM, rendered=False).spec
    assert only_kueue.pools == adopted(HAND, rendered=False).spec.pools


OTHER_QUEUES = """---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: audio}
spec: {weight: 1, reclaimable: true, capability: {nvidia.com/gpu: "6"}}
"""
POOL_QUEUE = """---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: volcano, labels: {policygen.dev/set: default}}
spec: {weight: 1, reclaimable: true, capability: {nvidia.com/gpu: "6"}}
"""
NODE = """---
apiVersion: v1
kind: Node
metadata: {name: h200-0, labels: {accel: h200, nvidia.com/gpu.product: NVIDIA-H200}}
status: {allocatable: {cpu: "96", memory: 700Gi, nvidia.com/gpu: "8"}}
"""


def test_nodes_that_are_in_no_pool_are_in_the_list():
    left = dict(adopted(HAND + OTHER_QUEUES + NODE, rendered=False).left)
    assert left["Node h200-0"].startswith("it is in no pool: queues or quotas without nodes count")


def test_a_pool_of_queues_by_hand_has_no_name_of_another_pool():
    inferred = adopted(OTHER_QUEUES + POOL_QUEUE, rendered=False)
    assert [it.name for it in inferred.spec.pools] == ["volcano", "volcano-volcano"]


QUEUES_BESIDE_A_QUOTA = (
    "---".join(
        f"""
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}}}
spec: {{deserved: {{nvidia.com/gpu: 8}}, capability: {{nvidia.com/gpu: 8}}}}
"""
        for name in ("train", "sim")
    )
    + """---
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus, namespace: sim}
spec: {hard: {requests.nvidia.com/gpu: 8}}
"""
)
TRAIN = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: train}\n"


def test_a_child_team_that_no_object_shows_is_a_guess():
    """A ResourceQuota in one namespace shows that the pool limits namespaces, so the other team has none of its own."""
    inferred = adopted(QUEUES_BESIDE_A_QUOTA, rendered=False)
    team = next(it for it in inferred.spec.teams if it.name == "train-members")
    assert team.parent == "train"
    texts = [it.text for it in inferred.guesses if it.name == team.name]
    assert len(texts) == 1
    assert texts[0].startswith("Guess: no object shows a namespace or a child team")


def test_a_team_gets_the_namespace_of_its_name_if_it_exists():
    """Then the namespace has no ResourceQuota, so the pool does not limit namespaces."""
    inferred = adopted(QUEUES_BESIDE_A_QUOTA + TRAIN, rendered=False)
    spaces = {team.name: [it.name for it in team.namespaces] for team in inferred.spec.teams}
    assert spaces == {"train": ["train"], "sim": ["sim"]}
    assert not inferred.spec.pools[0].quota_backstop
    texts = {it.name: it.text for it in inferred.guesses if it.path == ("spec", "namespaces")}
    assert texts == {
        it: f"Guess: no queue names the namespaces of this team; {it} has its name."
        for it in ("train", "sim")
    }


def test_a_limit_of_cpu_that_no_queue_has_is_a_guess():
    text = HAND.replace(
        "coveredResources: [nvidia.com/gpu]", "coveredResources: [nvidia.com/gpu, cpu]"
    )
    for gpus, cpu in (("8, borrowingLimit: 0", 150), ("4", 30)):
        more = f"nominalQuota: {gpus}}}, {{name: cpu, nominalQuota: {cpu}}}]"
        text = text.replace(f"nominalQuota: {gpus}}}]", more)
    inferred = adopted(text, rendered=False)
    (quota,) = next(it for it in inferred.spec.teams if it.name == "team-a-cq").quotas
    assert quota.cpu.limit is not None
    (guess,) = (it for it in inferred.guesses if it.path[-2:] == ("cpu", "limit"))
    assert guess.text.startswith("Guess: the queue has no limit of cpu.")
    assert "# Guess: the queue has no limit of cpu." in write(
        documents(inferred.spec), {("Team", guess.name): {guess.path: [guess.text]}}
    )


def test_a_release_of_kueue_is_a_guess():
    inferred = adopted(HAND.replace("v1beta2", "v1beta1"), rendered=False)
    (guess,) = (it for it in inferred.guesses if it.kind == "Platform")
    assert guess.path == ("spec", "target", "kueue")
    assert "Platform" not in {it.kind for it in adopted(HAND, rendered=False).guesses}


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), frozenset(sys.argv[3:]))
