"""Pods of the input that wait only because of the profile of kube-scheduler."""

import pytest

from policygen.core.finding import Verdict
from policygen.lint import engine
from policygen.lint.scheduler import stranded as module
from policygen.lint.scheduler.rules import profile_does_not_pack, profile_strands_gpus
from policygen.lint.scheduler.stranded import stranded
from tests.examples_of_rules import examples
from tests.objects import facts

BAD = examples("profile-strands-gpus", good=False)[0].text
QUEUE = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {kubernetes.io/hostname: gpu-0}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: a100
      resources:
      - {name: cpu, nominalQuota: 96}
      - {name: memory, nominalQuota: 1000Gi}
      - {name: nvidia.com/gpu, nominalQuota: 16}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a100, namespace: vision}
spec: {clusterQueue: vision}
"""


def found(text):
    return {
        name: (it.stranding.now.count, [str(one) for one in it.owners])
        for name, it in stranded(facts(text)).items()
    }


def test_the_owners_of_the_pods_that_wait():
    assert found(BAD) == {"gpu": (1, ["Pod vision/train"])}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("schedulerName: gpu\n  containers", "schedulerName: other\n  containers"),
        ("nvidia.com/gpu: 1\n", "nvidia.com/gpu: 8\n"),
        ("kind: Node\n", "kind: Name\n"),
    ],
)
def test_no_pods_of_two_sizes_no_profile_or_no_nodes(old, new):
    assert old in BAD
    assert found(BAD.replace(old, new)) == {}


def test_flavors_of_kueue_choose_the_nodes():
    """The queue sends the small pods to one node."""
    label = "metadata:\n  name: notebook-{0}\n  namespace: vision\n"
    text = BAD + QUEUE
    for number in (0, 1):
        old = label.format(number)
        assert old in text
        queue = f"{old}  labels: {{kueue.x-k8s.io/queue-name: a100}}\n"
        text = text.replace(old, queue)
    assert found(text) == {}


def test_a_profile_that_another_rule_reports_has_no_second_finding():
    text = BAD.replace("schedulerName: gpu", "schedulerName: gpu-binpack")
    rules = (profile_does_not_pack.RULE, profile_strands_gpus.RULE)
    hits = [hit.rule.name for it in engine.run(rules, facts(text)) for hit in it.hits]
    assert hits == ["profile-does-not-pack"]


def test_too_many_pods_are_not_simulated(monkeypatch):
    monkeypatch.setattr(module, "_MOST_PODS", 2)
    (outcome,) = engine.run([profile_strands_gpus.RULE], facts(BAD))
    assert outcome.verdict is Verdict.NOT_EVALUATED
    assert outcome.reason == "lint simulates at most 2 pods, and profile gpu has more"
