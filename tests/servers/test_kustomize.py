"""The real kustomize calls `policygen krm` as a generator and as a check, and applies the patches of `policygen patch`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests import programs
from tests.patch.foreign import drawn

ROOT = Path(__file__).parents[2]
POLICY = "tests/patch/policy.yaml"
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


DRAWN = 36
"""Three manifests of each kind."""


def _foreign(folder):
    """A base with manifests that were drawn."""
    base = folder / "base"
    base.mkdir()
    for seed in range(DRAWN):
        name, text, _, _ = drawn(seed)
        (base / name).write_bytes(text.encode())
    names = sorted(it.name for it in base.iterdir())
    (base / "kustomization.yaml").write_text(yaml.safe_dump({"resources": names}))
    return base


def _patch(*arguments):
    command = [sys.executable, "-m", "policygen", "patch", *arguments, "--spec", POLICY]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_kustomize_makes_of_the_component_what_patch_writes(tools, tmp_path):
    program = tools["kustomize"].binary("kustomize")
    base, policy = _foreign(tmp_path), tmp_path / "policy"
    policy.mkdir()
    component = _patch(str(base), "-f", "kustomize")
    (policy / "kustomization.yaml").write_text(component)
    (tmp_path / "kustomization.yaml").write_text("resources: [base]\ncomponents: [policy]\n")
    command = [program, "build", str(tmp_path)]
    built = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    _patch(str(base), "--write")
    written = [_read(it) for it in base.glob("*-*.*")]
    assert len(written) == DRAWN
    for it in written:
        if not it["metadata"].get("annotations"):  # kustomize removes them if they are empty
            it["metadata"].pop("annotations", None)
    assert _named(yaml.safe_load_all(built)) == _named(written)


def _named(documents):
    return {(it["kind"], it["metadata"]["name"]): it for it in documents}


def test_kubectl_makes_of_a_json_patch_what_patch_writes(tools, tmp_path):
    program = tools["kubectl"].binary("kubectl")
    base = _foreign(tmp_path)
    files = sorted(base.glob("*-*.*"))[:8]
    patches = json.loads(_patch(*map(str, files), "-f", "json-patch"))
    made = []
    for file, it in zip(files, patches, strict=True):
        command = [program, "patch", "--local", "--type=json", "-f", str(file), "-o", "json"]
        command += ["-p", json.dumps(it["patch"])]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        made.append(json.loads(done.stdout))
    _patch(*map(str, files), "--write")
    assert made == [_read(it) for it in files]


def _read(file):
    text = file.read_text()
    return json.loads(text) if file.suffix == ".json" else yaml.safe_load(text)
