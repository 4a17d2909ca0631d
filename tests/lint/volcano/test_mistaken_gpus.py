"""A queue that names another GPU resource than its jobs is one finding, about the name to change."""

from datetime import date
from pathlib import Path

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest, parse_targets

MANIFESTS = Path(__file__).parent.parent / "batch_manifests"
GPU, MIG = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"
SERVING = """
---
apiVersion: v1
kind: Node
metadata: {name: m1, labels: {kubernetes.io/hostname: m1, pool: mig}}
status: {allocatable: {cpu: 96, memory: 1000Gi, pods: 110, nvidia.com/mig-1g.10gb: 56}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: serving}
spec:
  reclaimable: true
  deserved: {cpu: 96, memory: 1000Gi, nvidia.com/mig-1g.10gb: 56}
  capability: {cpu: 96, memory: 1000Gi, nvidia.com/mig-1g.10gb: 56, nvidia.com/gpu: 0}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: slices, namespace: nlp}
spec:
  schedulerName: volcano
  queue: serving
  minAvailable: 2
  priorityClassName: low
  tasks:
  - name: worker
    replicas: 2
    template:
      spec:
        restartPolicy: Never
        nodeSelector: {pool: mig}
        containers:
        - name: main
          image: registry.example.com/train:1.4
          resources: {limits: {cpu: 1, memory: 12Gi, nvidia.com/mig-1g.10gb: 2}}
"""
VOLCANO = (MANIFESTS / "volcano.yaml").read_text("utf-8")
MIXED = VOLCANO.replace(f"{GPU}: 24", f"{GPU}: 24, {MIG}: 0") + SERVING
"""Nodes and queues for both resources."""
LIMIT, SHARE = f"{GPU}: 24", f"{GPU}: 16"
OF_VISION = "Queue vision spec.capability"


def found(folder, text, release):
    """The places of the findings about the queue, and whether a finding of another rule or object exists."""
    file = folder / "all.yaml"
    file.write_text(text, "utf-8")
    request = LintRequest(manifests=(str(file),), target=parse_targets({"volcano": release}))
    findings = app_lint.lint(request, today=date(2026, 11, 29)).findings
    rules = {"capability-incomplete", "capability-without-gpu"}
    assert {it.rule.name for it in findings} <= rules
    return [f"{it.object} {it.path}: {it.message.rpartition('; ')[2]}" for it in findings]


@pytest.mark.parametrize("release", ["1.14", "1.14.2", "1.15"])
@pytest.mark.parametrize("text", [VOLCANO, MIXED, VOLCANO.replace(GPU, MIG)])
def test_sound_queues_have_no_finding(tmp_path, text, release):
    assert found(tmp_path, text, release) == []


@pytest.mark.parametrize("release", ["1.14", "1.14.2", "1.15"])
@pytest.mark.parametrize(
    ("sound", "old", "new", "place"),
    [
        (MIXED, f"{LIMIT}, {MIG}: 0", f"{MIG}: 24", f'{OF_VISION}["{MIG}"]'),
        (MIXED, f"{MIG}: 56, {GPU}: 0}}", f"{GPU}: 56}}", f'Queue serving spec.capability["{GPU}"]'),
        (VOLCANO, LIMIT, f"{MIG}: 24", f'{OF_VISION}["{MIG}"]'),
        (VOLCANO, SHARE, f"{MIG}: 16", f'Queue vision spec.deserved["{MIG}"]'),
        (f"{VOLCANO}", SHARE + "}\n  capability: {cpu: 384, memory: 2000Gi, " + LIMIT, MIG + ": 16}\n  capability: {cpu: 384, memory: 2000Gi, " + MIG + ": 24", f'{OF_VISION}["{MIG}"]'),
    ],
)  # fmt: skip
def test_another_resource_is_one_finding(tmp_path, sound, old, new, place, release):
    right, wrong = (MIG, GPU) if place.endswith(f'["{GPU}"]') else (GPU, MIG)
    assert old in sound
    advice = f"write {right} instead of {wrong}"
    assert found(tmp_path, sound.replace(old, new, 1), release) == [f"{place}: {advice}"]


@pytest.mark.parametrize("release", ["1.14", "1.14.2", "1.15"])
def test_several_missing_resources_are_one_finding(tmp_path, release):
    text = MIXED.replace(f", {LIMIT}, {MIG}: 0", "", 1)
    [finding] = found(tmp_path, text, release)
    assert finding.endswith("list every GPU resource in capability, with 0 to forbid its use")


def test_without_jobs_and_nodes_nothing_is_known_to_be_meant(tmp_path):
    queue = f"""
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: vision}}
spec: {{deserved: {{{GPU}: 8}}, capability: {{{MIG}: 8}}}}
"""
    [finding] = found(tmp_path, queue, "1.14")
    assert finding.endswith("list every GPU resource in capability, with 0 to forbid its use")
