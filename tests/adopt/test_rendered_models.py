"""Models that only the objects of `render --with workloads` show."""

from policygen.documents.files import Source
from policygen.plan.extras import WORKLOADS
from tests.adopt.round_trip import adopted, again, rendered

SPEC = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: k}
spec:
  nodeSelector: {pool: k}
  gpu: {product: a100-40gb, sharing: mig, perNode: 8, mig: {instances: {1g.5gb: 112, 3g.20gb: 16}}}
  capacity: {nodes: 4, nodeAllocatable: {cpu: 96, memory: 1000Gi}}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: v}
spec:
  nodeSelector: {accelerator: h100, pool: v}
  taints: [{key: gpu, value: "yes", effect: NoSchedule}]
  gpu: {product: h100-80gb}
  capacity: {nodes: 4, nodeType: a3-highgpu-8g}
  scheduler: volcano
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: lab}
spec:
  namespaces: [{name: lab}, {name: lab-dev}]
  quotas: [{pool: k, guarantee: {1g.5gb: 20, 3g.20gb: 4}}, {pool: v, guarantee: 16}]
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {name: chat}
spec:
  team: lab
  resources: {gpuMemory: 18Gi}
  container: {image: "registry.example/chat:1", port: 8000}
  replicas: 3
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {name: embed}
spec:
  team: lab
  resources: {gpuMemory: 4Gi, cpu: 2}
  autoscaling: {minReplicas: 2, maxReplicas: 500}
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {name: train}
spec:
  team: lab
  namespace: lab-dev
  workload: training
  resources: {gpus: 8}
  gang: {size: 2}
  replicas: 2
  checkpoint: {gracePeriodSeconds: 300, command: [save]}
  placement: {pools: [v]}
"""
EXTRAS = frozenset({WORKLOADS})


def test_objects_with_the_label_are_models():
    first = rendered(Source("spec.yaml", SPEC, None), extras=EXTRAS)
    inferred = adopted(first)
    models = {it.name: it for it in inferred.spec.models}
    assert (models["chat"].replicas, models["chat"].container.port) == (3, 8000)
    assert models["chat"].cpu_milli is None  # the share of its instance
    assert models["embed"].cpu_milli == 2000
    train = models["train"]
    assert (train.namespace, train.replicas, train.gang.size) == ("lab-dev", 2, 2)
    assert (train.checkpoint.grace_period_s, train.placement.pools) == (300, ("v",))
    volcano = next(it for it in inferred.spec.pools if it.name == "v")
    assert volcano.node_selector == (("accelerator", "h100"), ("pool", "v"))
    assert [it.key for it in volcano.taints] == ["gpu"]
    assert again(first, EXTRAS) == first


def test_replicas_that_no_object_shows_are_a_guess():
    first = rendered(Source("spec.yaml", SPEC, None), extras=EXTRAS)
    (guess,) = (it for it in adopted(first).guesses if it.kind == "Model")
    assert (guess.name, guess.path) == ("embed", ("spec", "autoscaling", "maxReplicas"))


def test_objects_of_another_set_are_no_models():
    first = rendered(Source("spec.yaml", SPEC, None), extras=EXTRAS)
    job, rest = first.split("---\n")[-1], first.split("---\n")[:-1]
    text = "---\n".join([*rest, job.replace("policygen.dev/set: default", "policygen.dev/set: b")])
    assert "policygen.dev/model: train" in job
    assert len(adopted(text).spec.models) == 3  # the other Job of train is of this set
    alone = text.replace("policygen.dev/model: train", "other: train")
    assert {it.name for it in adopted(alone).spec.models} == {"chat", "embed", "train"}


TWO_POOLS = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: default}
spec: {sharedQueues: [{name: both, pools: [one, two]}]}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: one}
spec:
  nodeSelector: {pool: one}
  gpu: {product: h100-80gb}
  capacity: {nodes: 4, nodeType: a3-highgpu-8g}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: two}
spec:
  nodeSelector: {pool: two}
  gpu: {product: h100-80gb}
  capacity: {nodes: 4, nodeType: a3-highgpu-8g}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: lab}
spec:
  namespaces: [{name: lab}]
  quotas: [{pool: one, guarantee: 8, weight: 3}, {pool: two, limit: 0, weight: 3}]
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {name: chat}
spec: {team: lab, resources: {gpus: 1}, placement: {pools: [one]}}
"""


def test_pods_show_a_limit_of_zero_in_a_queue_of_two_pools():
    first = rendered(Source("spec.yaml", TWO_POOLS, None), extras=EXTRAS)
    assert "nodeSelector" in first
    (lab,) = adopted(first).spec.teams
    assert [(it.pool, it.limit) for it in lab.quotas][1] == ("two", (("", 0),))
    assert again(first, EXTRAS) == first
