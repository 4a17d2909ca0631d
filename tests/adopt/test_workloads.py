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
