"""Each command of docs/tutorial.md runs on the real servers, and prints what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from tests import programs
from tests.test_docs_output import shortened

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
EXIT_CODES = {
    "policygen adopt --context prod -o spec/": 1,
    "policygen diff git:main:spec spec/": 1,
}
"""The commands that do not end with 0: the list is not empty, and the specs differ."""
MOST = 19
"""Commands that a reader runs at most."""
LATE_S = 20.0
"""Webhooks of Volcano know a new queue late; the page says to run the command again."""


@pytest.fixture
def shell(bench, tools, tmp_path):
    """Run a command in a shell whose folder the next command keeps: exit code and output."""
    folder = programs.policygen(tmp_path / "bin")
    (folder / "kubectl").symlink_to(tools["kubectl"].binary("kubectl"))
    access = yaml.safe_load(bench.kubeconfig.read_text("utf-8"))
    access["contexts"][0]["name"] = access["current-context"] = "prod"
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(access))
    clone = tmp_path / "policygen"
    shutil.copytree(ROOT / "docs" / "tutorial", clone / "docs" / "tutorial")
    here = [clone]
    who = {"NAME": "a", "EMAIL": "a@example.com"}
    environment = {
        **os.environ,
        **{f"GIT_{it}_{key}": text for it in ("AUTHOR", "COMMITTER") for key, text in who.items()},
        "PATH": f"{folder}:{os.environ['PATH']}",
        "KUBECONFIG": str(tmp_path / "kubeconfig"),
        "HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
    }

    def run(command):
        done = subprocess.run(
            ["bash", "-c", f"{command}\ncode=$?; pwd > {tmp_path}/here; exit $code"],
            cwd=here[0],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        here[0] = Path((tmp_path / "here").read_text("utf-8").strip())
        return done.returncode, done.stdout

    return run


def test_a_reader_gets_from_queues_by_hand_to_a_reviewed_change(cluster, shell, tmp_path, update):
    text = PAGE.read_text("utf-8")
    commands, current = 0, text
    for commands_of_block, shown in BLOCK.findall(text):
        output = ""
        for command in commands_of_block.splitlines():
            commands += 1
            wanted, end = EXIT_CODES.get(command, 0), time.monotonic() + LATE_S
            code, output = shell(command)
            while code != wanted and command.startswith("kubectl") and time.monotonic() < end:
                time.sleep(0.2)
                code, output = shell(command)
            assert code == wanted, f"{command}\n{output}"
            if "workloads.yaml" in command:
                cluster.becomes("all pods run", lambda: len(cluster.waiting()), 0)
                cluster.becomes("pods", lambda: len(cluster.pods()), 10)
        if shown:
            current = current.replace(f"```\n{shown}```", f"```\n{shortened(output, shown)}```")
    if update:
        PAGE.write_text(current, "utf-8")
    assert PAGE.read_text("utf-8") == current
    assert commands <= MOST
    comment = (tmp_path / "comment.md").read_text("utf-8")
    assert "| team vision | guaranteed 6 → 9 nvidia.com/gpu, may still reach 10 |" in comment
    assert "| chat | 1 of 8 replicas now run on borrowed GPUs |" in comment
    queue = cluster.get("kueue.x-k8s.io/v1beta2", "ClusterQueue", "vision.a100")
    (flavor,) = queue["spec"]["resourceGroups"][0]["flavors"]
    assert {it["name"]: it["nominalQuota"] for it in flavor["resources"]}["nvidia.com/gpu"] == "9"
