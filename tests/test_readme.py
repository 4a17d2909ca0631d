"""The output in README equals the output of the commands, character by character."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from policygen.client import snapshot_file as snapshots
from tests.client.looks import snapshot

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: a100
  namespace: vision
spec:
  clusterQueue: vision.a1000
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: vision.a100
spec:
  namespaceSelector: {}
"""


def shown(rule):
    """The block of plain output in which README shows a finding of this rule."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (block,) = [text for word, text in blocks if not word and f"[{rule}]\n" in text]
    return block


def output(*words):
    """The output of a command, stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "policygen", *words], capture_output=True, check=False
    )
    return (done.stdout + done.stderr).decode()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_error_in_the_spec_that_readme_shows(folder):
    spec = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)[0]
    (folder / "spec.yaml").write_text(spec.replace("product:", "prodcut:"), "utf-8")
    assert shown("unknown-field") in output("render", "spec.yaml")


def test_the_finding_in_manifests_that_readme_shows(folder):
    (folder / "queues.yaml").write_text(QUEUES, "utf-8")
    printed = output("lint", "--manifests", "queues.yaml")
    assert shown("local-queue-without-cluster-queue") in printed


def test_the_drift_that_readme_shows(folder):
    (folder / "spec").symlink_to(ROOT / "examples" / "kueue-team-tree")
    text = (ROOT / "examples" / "kueue-team-tree" / "expected" / "manifests.yaml").read_text()
    things = [each for each in yaml.safe_load_all(text) if each]
    (queue,) = [it for it in things if it["metadata"]["name"] == "evaluation.a100"]
    queue["spec"]["stopPolicy"] = "Hold"
    queue["metadata"]["managedFields"] = [
        {
            "manager": "kubectl-edit",
            "operation": "Update",
            "apiVersion": queue["apiVersion"],
            "time": "2026-11-21T03:00:12Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:stopPolicy": {}}},
        }
    ]
    snapshots.write(snapshot(yaml.safe_dump_all(things), context="prod"), folder / "prod.snapshot")
    asked = ("--snapshot", "prod.snapshot", "spec/platform.yaml", "spec/teams.yaml")
    printed = output("lint", *asked, "spec/models.yaml")
    assert shown("field-drifted") in printed
