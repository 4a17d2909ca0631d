"""Pods that a LimitRange refuses are one finding: they use no quota and no GPUs of nodes."""

import pytest

from tests.lint.linting import findings

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: 96, memory: 1000Gi, pods: 110, nvidia.com/gpu: 8}}
"""
DEPLOYMENT = """
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: nlp, labels: {{app: serve}}}}
spec:
  replicas: {pods}
  strategy: {{rollingUpdate: {{maxSurge: {surge}, maxUnavailable: {left}}}}}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers:
      - name: main
        image: registry.example.com/serve:2.1
        resources: {{limits: {{cpu: {cpu}, memory: 64Gi, nvidia.com/gpu: 1}}}}
"""
JOB = """
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: nlp}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example.com/train:1.4
        resources: {limits: {cpu: 4, memory: 32Gi, nvidia.com/gpu: 2}}
"""
QUOTA = """
---
apiVersion: v1
kind: ResourceQuota
metadata: {{name: gpus, namespace: nlp}}
spec: {{hard: {{requests.nvidia.com/gpu: {gpus}}}}}
"""
RANGE = """
---
apiVersion: v1
kind: LimitRange
metadata: {name: small, namespace: nlp}
spec: {limits: [{type: Container, max: {cpu: 4}}]}
"""


def serve(pods, cpu=8, name="serve", surge=0):
    return DEPLOYMENT.format(name=name, pods=pods, cpu=cpu, surge=surge, left=1 - surge)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (NODE + serve(7) + JOB, "job-exceeds-free-nodes"),
        (NODE + serve(3, cpu=30), "gpus-left-unusable"),
        (NODE + serve(5) + serve(4, name="chat"), "workloads-exceed-nodes"),
        (serve(7) + JOB + QUOTA.format(gpus=8), "job-exceeds-free-quota"),
        (
            serve(5) + serve(4, name="chat") + QUOTA.format(gpus=8),
            "workloads-exceed-resource-quota",
        ),
        (serve(8, surge=1) + QUOTA.format(gpus=8), "rollout-exceeds-quota"),
    ],
)
def test_refused_pods_are_one_finding(tmp_path, text, rule):
    assert [it for it, _ in findings(tmp_path, text)] == [rule]
    assert [it for it, _ in findings(tmp_path, text + RANGE)] == ["limit-range-refuses-pods"]


def test_other_pods_count(tmp_path):
    text = NODE + serve(7, cpu=4) + JOB + RANGE
    assert [it for it, _ in findings(tmp_path, text)] == ["job-exceeds-free-nodes"]


def test_a_job_that_is_refused_waits_for_nothing(tmp_path):
    text = NODE + serve(7, cpu=4) + JOB.replace("cpu: 4", "cpu: 5") + RANGE
    assert [it for it, _ in findings(tmp_path, text)] == ["limit-range-refuses-pods"]


@pytest.mark.parametrize(
    ("text", "which"),
    [
        (serve(1), "Deployment nlp/serve are refused: "),
        (
            serve(1) + serve(1, name="chat"),
            "Deployment nlp/serve and Deployment nlp/chat are refused: in Deployment nlp/serve ",
        ),
    ],
)
def test_the_container_and_what_it_can_request_are_named(tmp_path, text, which):
    [(_, message)] = findings(tmp_path, text + RANGE)
    assert message == (
        f"the pods of {which}container main requests 8 cores, but the maximum of LimitRange nlp/small is 4 cores; "
        "request at most 4 cores, or change the LimitRange"
    )
