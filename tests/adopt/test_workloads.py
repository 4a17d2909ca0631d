"""Models from workloads that request accelerators."""

from tests.adopt.round_trip import adopted
from tests.adopt.test_infer import HAND

POD = "{containers: [{name: x, image: y, resources: {limits: {nvidia.com/gpu: 2, cpu: 4}}}]}"
WORKLOADS = f"""---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: chat, namespace: a}}
spec: {{replicas: 3, template: {{spec: {POD}}}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: chat, namespace: a}}
spec: {{minReplicas: 2, maxReplicas: 6, scaleTargetRef: {{kind: Deployment, name: chat}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: train, namespace: b}}
spec: {{parallelism: 4, template: {{spec: {POD}}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: plain, namespace: b}}
spec: {{template: {{spec: {{containers: [{{name: x, image: y}}]}}}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: lost, namespace: elsewhere}}
spec: {{template: {{spec: {POD}}}}}
"""


def test_workloads_with_accelerators_are_models():
    inferred = adopted(HAND + WORKLOADS, rendered=False)
    models = {it.name: it for it in inferred.spec.models}
    assert set(models) == {"chat", "train"}
    chat, train = models["chat"], models["train"]
    assert (chat.team, chat.workload, chat.gpus, chat.cpu_milli) == (
        "team-a-cq",
        "serving",
        2,
        4000,
    )
    assert (chat.autoscaling.min_replicas, chat.autoscaling.max_replicas) == (2, 6)
    assert (train.workload, train.gang.size, train.gang.run_as) == ("training", 4, "job")
    assert train.placement.pools == ("a100",)


def test_workloads_without_a_team_are_listed():
    left = dict(adopted(HAND + WORKLOADS, rendered=False).left)
    assert left == {"Job elsewhere/lost": "it is not a model, because no team has this namespace"}


def test_a_workload_of_a_missing_local_queue_is_listed():
    text = WORKLOADS.replace(
        "{name: chat, namespace: a}",
        "{name: chat, namespace: a, labels: {kueue.x-k8s.io/queue-name: nowhere}}",
        1,
    )
    inferred = adopted(HAND + text, rendered=False)
    message = 'the workload names LocalQueue "nowhere", which does not exist in namespace a'
    assert dict(inferred.left)["Deployment a/chat"] == message
    (guess,) = (it for it in inferred.guesses if it.kind == "Model")
    assert (guess.name, guess.text) == ("chat", f"Guess: {message}.")
    known = adopted(HAND + text.replace("nowhere", "user-queue"), rendered=False)
    assert {it.kind for it in known.guesses} & {"Model"} == set()
    assert "Deployment a/chat" not in dict(known.left)


SECOND = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team-b.a100-40}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: b}}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: a100.40, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100.40}
spec: {nodeLabels: {gpu: a100-40}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: small, namespace: b}
spec: {clusterQueue: team-b.a100-40}
"""


def test_a_model_runs_in_the_pool_of_its_queue():
    inferred = adopted(HAND + SECOND + WORKLOADS, rendered=False)
    (train,) = (it for it in inferred.spec.models if it.name == "train")
    assert train.placement.pools == ("a100",)  # of two pools; no object shows which
    assert [it.name for it in inferred.guesses if it.kind == "Model"] == ["train"]
    queued = WORKLOADS.replace(
        "{name: train, namespace: b}",
        "{name: train, namespace: b, labels: {kueue.x-k8s.io/queue-name: small}}",
    )
    inferred = adopted(HAND + SECOND + queued, rendered=False)
    (train,) = (it for it in inferred.spec.models if it.name == "train")
    assert train.placement.pools == ("a100-40",)
    assert [it.name for it in inferred.guesses if it.kind == "Model"] == []
    selectors = {it.name: dict(it.node_selector) for it in inferred.spec.pools}
    assert selectors["a100-40"] == {"gpu": "a100-40"}  # of the flavor a100.40


VCJOB = f"""
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: research}}
spec: {{reclaimable: true, deserved: {{nvidia.com/gpu: 6}}}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: pre, namespace: lab}}
spec: {{queue: research, tasks: [{{replicas: 2, template: {{spec: {POD}}}}}]}}
"""


def test_a_node_of_volcano_holds_the_largest_pod_of_its_queue():
    large = VCJOB.replace("nvidia.com/gpu: 2", "nvidia.com/gpu: 8")
    (pool,) = adopted(large, rendered=False).spec.pools
    assert (pool.gpu.per_node, pool.capacity.total_gpus) == (8, 6)
    (pool,) = adopted(VCJOB, rendered=False).spec.pools
    assert (pool.gpu.per_node, pool.capacity.nodes) == (2, 3)
    lost = VCJOB.replace("queue: research", "queue: lost").replace("lab", "b")
    left = dict(adopted(f"{HAND}---{lost}", rendered=False).left)
    assert left["Job b/pre"] == 'the workload names Queue "lost", which does not exist'


SHARED = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: other}
spec:
  cohortName: team-a
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: a}}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: other, namespace: a}
spec: {clusterQueue: other}
"""


def test_a_model_whose_queue_is_one_of_another_team_is_a_guess():
    of_other = "{name: chat, namespace: a, labels: {kueue.x-k8s.io/queue-name: other}}"
    text = WORKLOADS.replace("{name: chat, namespace: a}", of_other, 1)
    inferred = adopted(HAND + SHARED + text, rendered=False)
    (chat,) = (it for it in inferred.spec.models if it.name == "chat")
    (guess,) = (it for it in inferred.guesses if it.name == "chat")
    reason = f"its queue is one of team other, but namespace a is one of team {chat.team}"
    assert guess.path == ("spec", "team")
    assert guess.text.startswith(f"Guess: {reason}")
    assert any(reason in it for name, it in inferred.left if name == "Deployment a/chat")


def test_a_model_without_a_queue_in_a_namespace_of_two_teams_is_a_guess():
    inferred = adopted(HAND + SHARED + WORKLOADS, rendered=False)
    (guess,) = (it for it in inferred.guesses if it.name == "chat")
    reason = "it names no queue, and queues of the teams team-a-cq and other admit its namespace a"
    assert (guess.path, guess.text.startswith(f"Guess: {reason}")) == (("spec", "team"), True)
    assert dict(inferred.left)["Deployment a/chat"].startswith(reason)


def test_a_priority_class_that_no_object_defines_is_listed():
    classes = "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\n"
    classes += "metadata: {name: high}\nvalue: 5\n"
    text = WORKLOADS.replace("containers:", "priorityClassName: gold, containers:")
    text = text.replace(
        "{name: train, namespace: b}",
        "{name: train, namespace: b, labels: {kueue.x-k8s.io/priority-class: high}}",
    )
    inferred = adopted(HAND + classes + text, rendered=False)
    assert {it.name: it.priority for it in inferred.spec.models} == {"chat": None, "train": "high"}
    assert dict(inferred.left)["Deployment a/chat"] == (
        'its priority class "gold" does not exist, so the model has no priority'
    )
    system = text.replace("priorityClassName: gold", "priorityClassName: system-node-critical")
    known = "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
    known += "metadata: {name: system-node-critical}\nvalue: 2000001000\n"
    left = dict(adopted(HAND + known + system, rendered=False).left)
    assert "is not one that a spec can have" in left["Deployment a/chat"]


GROUPS = f"""
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: speech}}
spec: {{capability: {{nvidia.com/gpu: 16}}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: train, namespace: speech}}
spec: {{queue: speech, minMember: 4, minResources: {{nvidia.com/gpu: 8}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: train, namespace: speech}}
spec: {{parallelism: 4, template: {{metadata: ANNOTATED, spec: {POD}}}}}
"""


def test_a_workload_in_a_pod_group_is_one_model():
    annotated = "{annotations: {scheduling.k8s.io/group-name: train}}"
    (train,) = adopted(GROUPS.replace("ANNOTATED", annotated), rendered=False).spec.models
    assert (train.name, train.cpu_milli, train.gang.size) == ("train", 4000, 4)
    assert train.placement.pools == ("volcano",)


def test_a_pod_group_with_the_name_of_a_workload_is_a_model_of_another_name():
    models = adopted(GROUPS.replace("ANNOTATED", "{}"), rendered=False).spec.models
    assert [(it.name, it.cpu_milli) for it in models] == [("train", 4000), ("train-2", None)]


def test_an_annotation_names_the_queue_of_a_workload():
    annotated = "{annotations: {scheduling.volcano.sh/queue-name: other}}"
    left = dict(adopted(GROUPS.replace("ANNOTATED", annotated), rendered=False).left)
    assert left == {
        "Job speech/train": 'the workload names Queue "other", which does not exist',
    }


def test_a_workload_with_a_part_of_a_gpu_is_listed():
    """The server refuses it, and a spec counts only complete GPUs."""
    text = GROUPS.replace("ANNOTATED", "{}").replace(
        "limits: {nvidia.com/gpu: 2", "limits: {nvidia.com/gpu: 500m"
    )
    inferred = adopted(text, rendered=False)
    assert [it.gpus for it in inferred.spec.models] == [2]
    assert dict(inferred.left) == {
        "Job speech/train": "it is not a model, because it requests less than one GPU"
    }
