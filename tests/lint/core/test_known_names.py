"""A name in the wrong case has one finding, which proposes the right name."""

from datetime import date

import pytest

from policygen.app import lint
from policygen.app.requests import LintRequest

SOUND = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: default}
spec: {levels: [{nodeLabel: zone}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {pool: a100}, topologyName: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: all}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: part}
spec: {parentName: all}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision.a100}
spec:
  cohortName: all
  namespaceSelector: {}
  preemption: {reclaimWithinCohort: Any}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: a100
      resources:
      - {name: cpu, nominalQuota: 96}
      - {name: memory, nominalQuota: 1000Gi}
      - {name: nvidia.com/gpu, nominalQuota: 8}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a100, namespace: vision}
spec: {clusterQueue: vision.a100}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: h100}
spec: {weight: 1, reclaimable: true, deserved: {cpu: 96, memory: 1000Gi, nvidia.com/gpu: 8}, capability: {cpu: 96, memory: 1000Gi, nvidia.com/gpu: 8}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: vision.h100}
spec: {parent: h100, weight: 1, reclaimable: true, deserved: {cpu: 96, memory: 1000Gi, nvidia.com/gpu: 8}, capability: {cpu: 96, memory: 1000Gi, nvidia.com/gpu: 8}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: training}
value: 100
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: vision}
spec:
  schedulerName: volcano
  queue: vision.h100
  priorityClassName: training
  minAvailable: 1
  tasks:
  - name: rank
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: rank
          image: example.com/train:1
          resources: {requests: {cpu: 8, memory: 64Gi}, limits: {nvidia.com/gpu: 1}}
"""


def found(tmp_path, text):
    file = tmp_path / "in.yaml"
    file.write_text(text, "utf-8")
    report = lint.lint(LintRequest(manifests=(str(file),)), today=date(2026, 11, 23))
    return {(it.place.line, it.rule.name, it.message) for it in report.findings if it.place}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("topologyName: default", "topologyName: Default"),
        ("parentName: all", "parentName: All"),
        ("cohortName: all", "cohortName: All"),
        ("    - name: a100", "    - name: A100"),
        ("clusterQueue: vision.a100", "clusterQueue: Vision.a100"),
        ("parent: h100", "parent: H100"),
        ("queue: vision.h100", "queue: vision.H100"),
        ("priorityClassName: training", "priorityClassName: Training"),
    ],
)
def test_a_name_in_the_wrong_case_has_one_finding(tmp_path, right, wrong):
    before = found(tmp_path, SOUND)
    [(line, rule, message)] = found(tmp_path, SOUND.replace(right, wrong)) - before
    assert (line, rule) == (SOUND[: SOUND.index(right)].count("\n") + 1, "invalid-value")
    name = right.rpartition(" ")[2]
    assert message.endswith(f' is not a valid name; did you mean "{name}"?')


def test_another_invalid_name_gets_the_grammar(tmp_path):
    text = SOUND.replace("clusterQueue: vision.a100", "clusterQueue: Elsewhere")
    [(_, rule, message)] = found(tmp_path, text) - found(tmp_path, SOUND)
    assert rule == "invalid-value"
    assert 'is not a valid name; write lower-case letters, digits, "-" and "."' in message
