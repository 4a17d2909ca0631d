"""Edge cases of the rules for Volcano that their pages cannot show."""

import re
from datetime import date

import pytest

from policygen.app import lint as app_lint
from policygen.core.finding import Verdict
from policygen.lint.volcano.rules import volcano_strands_gpus
from tests.examples_of_rules import examples

QUEUE = "{{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {{name: {}}}, spec: {}}}\n---\n"
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: vision}
spec:
  tasks:
  - {name: worker, dependsOn: {name: [worke]}}
"""


@pytest.mark.parametrize(
    "rule, text, advice",
    [
        ("queue-not-below-root", QUEUE.format("team-a", "{parent: team}"), "known: root"),
        ("queue-not-below-root", QUEUE.format("team-a", "{parent: rot}"), 'did you mean "root"?'),
        (
            "queue-not-below-root",
            QUEUE.format("team-a", "{parent: team}") + QUEUE.format("teams", "{}"),
            'did you mean "teams"?',
        ),
        ("job-dependency-refused", JOB, "no other task is defined"),
    ],
)
def test_no_object_is_suggested_as_its_own_parent(tmp_path, rule, text, advice):
    file = tmp_path / "in.yaml"
    file.write_text(text, "utf-8")
    request = app_lint.LintRequest(manifests=(str(file),), only=(rule,))
    (finding,) = app_lint.lint(request, today=date(2026, 11, 21)).findings
    assert finding.message.endswith(advice)


def _strands(tmp_path, text, *rules):
    file = tmp_path / "all.yaml"
    file.write_text(text, "utf-8")
    request = app_lint.LintRequest(manifests=(str(file),), only=rules)
    report = app_lint.lint(request, today=date(2026, 11, 23))
    return [it.rule.name for it in report.findings], {it.rule: it for it in report.rules}


def test_gangs_are_stranded_once_if_binpack_omits_gpus(tmp_path):
    text = examples("volcano-strands-gpus", good=False)[0].text
    rules = "volcano-strands-gpus", "binpack-without-gpu"
    assert _strands(tmp_path, text, *rules)[0] == ["volcano-strands-gpus"]
    cpu = text.replace("  - name: nodeorder\n", "  - name: nodeorder\n  - name: binpack\n", 1)
    assert _strands(tmp_path, cpu, *rules)[0] == ["binpack-without-gpu"]
    assert _strands(tmp_path, cpu, rules[0])[0] == ["volcano-strands-gpus"]


def test_gangs_of_one_size_or_too_many_pods_are_not_simulated(tmp_path, monkeypatch):
    text = examples("volcano-strands-gpus", good=False)[0].text
    rule = "volcano-strands-gpus"
    equal = text.replace("nvidia.com/gpu: 1\n", "nvidia.com/gpu: 8\n")
    assert equal != text
    assert rule not in _strands(tmp_path, equal, rule)[0]
    monkeypatch.setattr(volcano_strands_gpus, "_MOST_PODS", 2)
    found, rules = _strands(tmp_path, text, rule)
    assert rule not in found
    assert rules[rule].verdict is Verdict.NOT_EVALUATED
    assert rules[rule].reason == "lint simulates at most 2 pods of Volcano"


def test_a_tier_of_null_has_no_unknown_key(tmp_path):
    text = next(iter(examples("volcano-key-ignored", good=False))).text
    empty = re.sub(r"( *)tiers:\n", r"\1tiers:\n\1- null\n", text)
    assert empty != text
    file = tmp_path / "in.yaml"
    found = []
    for each in (text, empty):
        file.write_text(each, "utf-8")
        request = app_lint.LintRequest(manifests=(str(file),), only=("volcano-key-ignored",))
        report = app_lint.lint(request, today=date(2026, 11, 21))
        found.append([it.message for it in report.findings])
    assert found[0]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("cpu", "remedy"),
    [
        (16, "lower the request of a pod, which is above the capability, or"),
        (5, "lower minAvailable and the replicas of its tasks, or"),
    ],
)
def test_no_smaller_gang_is_proposed_if_one_pod_is_above_the_capability(tmp_path, cpu, remedy):
    text = f"""
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: q}}
spec: {{capability: {{cpu: 8}}}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: j, namespace: default}}
spec:
  queue: q
  minAvailable: 2
  schedulerName: volcano
  tasks:
    - name: a
      replicas: 2
      template:
        spec: {{restartPolicy: Never, containers: [{{name: a, image: "a:1", resources: {{requests: {{cpu: {cpu}}}}}}}]}}
"""
    file = tmp_path / "all.yaml"
    file.write_text(text, "utf-8")
    request = app_lint.LintRequest(manifests=(str(file),), only=("gang-exceeds-queue",))
    (found,) = app_lint.lint(request, today=date(2026, 11, 23)).findings
    assert remedy in found.message
