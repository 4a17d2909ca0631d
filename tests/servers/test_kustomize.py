"""The real kustomize calls `policygen krm` as a generator and as a check."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests import programs

ROOT = Path(__file__).parents[2]
FUNCTION = """\
apiVersion: krm.policygen.dev/v1alpha1
kind: {kind}
metadata:
  name: {name}
  annotations:
    config.kubernetes.io/function: |
      exec: {{path: ./policygen, args: [krm]}}
spec:
  paths: [spec/]
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: vision, labels: {kueue.x-k8s.io/queue-name: QUEUE}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: a, image: b, resources: {limits: {nvidia.com/gpu: "4", cpu: "4", memory: 4Gi}}}
"""


@pytest.fixture
def build(tmp_path, tools):
    """Build a kustomization with a Job of a queue."""
    program = tools["kustomize"].binary("kustomize")
    (tmp_path / "spec").mkdir()
    for name in ("platform", "teams"):
        shutil.copy(ROOT / f"examples/kueue-team-tree/{name}.yaml", tmp_path / "spec")
    programs.policygen(tmp_path)
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [job.yaml]\ngenerators: [policy.yaml]\ntransformers: [check.yaml]\n"
    )
    (tmp_path / "policy.yaml").write_text(FUNCTION.format(kind="Render", name="policy"))
    (tmp_path / "check.yaml").write_text(FUNCTION.format(kind="Lint", name="check"))

    def run(queue):
        (tmp_path / "job.yaml").write_text(JOB.replace("QUEUE", queue))
        command = [program, "build", "--enable-alpha-plugins", "--enable-exec", "."]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def _sorted(documents):
    return sorted(documents, key=lambda it: str((it["kind"], it["metadata"])))


def test_kustomize_adds_the_rendered_objects(build, tmp_path):
    done = build("a100")
    assert done.returncode == 0, done.stderr
    built = _sorted(yaml.safe_load_all(done.stdout))
    command = [sys.executable, "-m", "policygen", "render", "-q", str(tmp_path / "spec")]
    rendered = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [it for it in built if it["kind"] != "Job"] == _sorted(yaml.safe_load_all(rendered))
    assert [it["metadata"]["name"] for it in built if it["kind"] == "Job"] == ["train"]


def test_kustomize_stops_at_an_error_of_lint(build):
    done = build("a1000")
    assert (done.returncode, done.stdout) == (1, "")
    assert 'error: Job vision/train names LocalQueue "a1000"' in done.stderr


def test_kustomize_builds_the_folder_of_a_cluster(build, tmp_path):
    program = build("a100").args[0]
    example = str(ROOT / "examples/rings/policy.yaml")
    command = [sys.executable, "-m", "policygen", "render", "-q", example]
    for more in (["-o", str(tmp_path / "out"), "--kustomization"], ["--cluster", "staging"]):
        rendered = subprocess.run(
            [*command, *more], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    done = subprocess.run(
        [program, "build", str(tmp_path / "out/staging")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert _sorted(yaml.safe_load_all(done.stdout)) == _sorted(yaml.safe_load_all(rendered))


def test_kustomize_stops_at_an_invalid_spec(build, tmp_path):
    (tmp_path / "spec" / "teams.yaml").write_text("a: [\n")
    done = build("a100")
    assert (done.returncode, done.stdout) == (1, "")
    assert "spec/teams.yaml:1:4: error:" in done.stderr
