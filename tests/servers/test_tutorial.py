"""Each command of docs/tutorial.md runs on the real servers, and prints what the page shows."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

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


def test_a_reader_gets_from_queues_by_hand_to_a_reviewed_change(cluster, shell, tmp_path, update):
    shutil.copytree(ROOT / "docs" / "tutorial", tmp_path / "policygen" / "docs" / "tutorial")
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
