"""Workloads that do not start even if no other workload runs."""

import pytest

from policygen.core.finding import Verdict
from policygen.lint import engine
from policygen.lint.kueue import simulated
from policygen.lint.kueue.never_started import never_started
from policygen.lint.kueue.rules import workload_exceeds_quota, workload_never_starts
from policygen.simulate.why.causes import CauseKind
from tests.examples_of_rules import examples
from tests.objects import facts

TRAP, COMBINED, SELECTOR = (it.text for it in examples("workload-never-starts", good=False))


def found(text):
    return [(str(it.owner), it.queue.name, it.cause.kind) for it in never_started(facts(text))]


def hits(text, *rules):
    return [
        (hit.rule.name, hit.message) for it in engine.run(rules, facts(text)) for hit in it.hits
    ]


def test_nodes_of_the_first_flavor_are_too_small():
    assert found(TRAP) == [("Job vision/train", "vision", CauseKind.NO_NODES)]


def test_a_selector_is_the_cause_only_if_no_node_has_the_label():
    [(_, message)] = hits(SELECTOR, workload_never_starts.RULE)
    assert "its nodes do not have capacity-type=spot" in message
    spot = SELECTOR.replace("on-demand", "spot").replace("nvidia.com/gpu: 2", "nvidia.com/gpu: 8")
    [(_, message)] = hits(spot, workload_never_starts.RULE)
    assert "its nodes have at most 4 of the 8 GPUs" in message


def test_no_flavor_has_labels_and_quota():
    assert found(COMBINED) == [("Job vision/train", "vision", CauseKind.ABOVE_MAXIMUM)]


def test_without_nodes_only_quota_counts():
    parts = TRAP.split("---\n")
    assert found("---\n".join(it for it in parts if "kind: Node" not in it)) == []


def test_pods_of_a_job_can_run_one_after_the_other():
    small = TRAP.replace(
        "limits:\n            nvidia.com/gpu: 8", "limits:\n            nvidia.com/gpu: 4"
    )
    many = small.replace(
        "spec:\n  template:", "spec:\n  parallelism: 2\n  completions: 2\n  template:"
    )
    assert small != TRAP
    one_node = many.replace(
        "name: small-1\n  labels:\n    pool: a100-4", "name: small-1\n  labels:\n    pool: other"
    )
    assert one_node != many
    assert found(one_node) == []


SET = """apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  namespace: vision
  labels: {kueue.x-k8s.io/queue-name: a100}
spec:
  replicatedJobs:
  - name: ranks
    template:
      spec:
        parallelism: %s
        completions: %s
        template:
          spec:
            restartPolicy: Never
            containers:
            - {name: main, image: i, resources: {limits: {nvidia.com/gpu: 1}}}
"""


@pytest.mark.parametrize(("pods", "waits"), [(8, False), (9, True)])
def test_the_pods_of_a_job_set_run_together(pods, waits):
    """The first flavor has quota for more than its two nodes with 4 GPUs."""
    text = TRAP.partition("apiVersion: batch/v1")[0].replace(
        "gpu\n        nominalQuota: 8", "gpu\n        nominalQuota: 16", 1
    )
    assert bool(found(text + SET % (pods, pods))) is waits


def test_another_rule_reports_a_simple_cause():
    text = COMBINED.replace("nvidia.com/gpu: 8", "nvidia.com/gpu: 16")
    rules = workload_exceeds_quota.RULE, workload_never_starts.RULE
    assert [name for name, _ in hits(text, *rules)] == ["workload-exceeds-quota"]
    assert [name for name, _ in hits(text, rules[1])] == ["workload-never-starts"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("clusterQueue: vision", "clusterQueue: speech"),
        ("  namespaceSelector:\n    matchLabels:\n      kubernetes.io/metadata.name: vision\n", ""),
        ("    kueue.x-k8s.io/queue-name: a100\n", "    kueue.x-k8s.io/queue-name: h100\n"),
    ],
)
def test_faults_of_queues_have_rules_of_their_own(old, new):
    assert old in TRAP
    assert hits(TRAP.replace(old, new), workload_never_starts.RULE) == []


def test_a_large_input_is_not_simulated(monkeypatch):
    monkeypatch.setattr(simulated, "_MOST_JOBS", 0)
    (outcome,) = engine.run([workload_never_starts.RULE], facts(TRAP))
    assert outcome.verdict is Verdict.NOT_EVALUATED
    assert "at most 0 jobs of Kueue" in outcome.reason


def test_a_flavor_without_a_covered_resource_is_not_simulated():
    text = TRAP.replace("coveredResources:", "coveredResources:\n    - gpu.com/x", 1)
    assert text != TRAP
    (outcome,) = engine.run([workload_never_starts.RULE], facts(text))
    assert outcome.verdict is Verdict.NOT_EVALUATED
    assert "has no quota for a resource of coveredResources" in outcome.reason
