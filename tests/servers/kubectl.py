"""The few kubectl commands that `policygen lint --patches` prints, run by our own client.

The bench does not contain kubectl; `test_drift.py` runs it where the machine has it.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from pathlib import Path

import yaml

from .bench import Bench
from .client import APPLY, MERGE, Answer, Client

JSON_PATCH = "application/json-patch+json"
GONE_S = 20.0
KNOWN_S = 20.0
POLL_S = 0.05
VOLCANO_QUEUES = "/scheduling.volcano.sh/v1beta1/queues/"


def run_really(bench: Bench, script: Path) -> list[str]:
    """Run the script in a shell; returns kubectl's errors if one of its commands failed."""
    done = subprocess.run(
        ["sh", str(script)],
        env={**os.environ, "KUBECONFIG": str(bench.kubeconfig)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return [done.stdout + done.stderr] if done.returncode else []


def run(bench: Bench, script: Path) -> list[str]:
    """Every `run` line of a script; gives what was refused, by its command."""
    client = bench.client
    refused = []
    for line in script.read_text("utf-8").splitlines():
        if not line.startswith("run "):
            continue
        for part in line.split(" && "):
            words = shlex.split(part)[1:]
            known = ["kubectl", "--kubeconfig", str(bench.kubeconfig), "--context"]
            assert words[: len(known)] == known, words
            answer = _command(client, words[len(known) + 1 :], script.parent)
            if not answer.ok:
                refused.append(f"{shlex.join(words)}: {answer.message}")
                break
    return refused


def _command(client: Client, words: list[str], folder: Path) -> Answer:
    verb, rest = words[0], words[1:]
    if verb == "apply":
        assert rest[:2] == ["--server-side", "-f"], words
        return _apply(client, (folder / rest[2]).read_text("utf-8"))
    path, rest = _path(rest)
    if verb == "delete":
        assert rest in ([], ["--wait=false"]), words
        return _delete(client, path, wait=not rest)
    assert verb == "patch", words
    if rest[0] == "--type=merge":
        return patch(client, path, rest[2], MERGE, {})
    assert rest[:2] == ["--type=json", "--patch-file"], words
    body = (folder / rest[2]).read_text("utf-8")
    query = {"fieldManager": "kubectl-patch", "fieldValidation": "Strict"}
    return patch(client, path, body, JSON_PATCH, query)


def patch(client: Client, path: str, body: str, content_type: str, query: dict[str, str]) -> Answer:
    """A patch, once Volcano's webhook knows the earlier changes of other queues.

    The webhook compares a queue with those of its cache. A dry run shows what it knows.
    """
    end = time.monotonic() + KNOWN_S
    dry = {**query, "dryRun": "All"}
    while VOLCANO_QUEUES in path and time.monotonic() < end:
        if client.request("PATCH", path, body, content_type=content_type, query=dry).ok:
            break
        time.sleep(POLL_S)
    return client.request("PATCH", path, body, content_type=content_type, query=query)


def _path(words: list[str]) -> tuple[str, list[str]]:
    """The path of the object that is named, and what follows its name."""
    kind, name, *rest = words
    namespace = None
    if rest[:1] == ["-n"]:
        namespace, rest = rest[1], rest[2:]
    plural, _, version = kind.partition(".")
    api = "/api/v1"
    if version:
        number, _, group = version.partition(".")
        api = f"/apis/{group}/{number}"
    within = f"/namespaces/{namespace}" if namespace else ""
    return f"{api}{within}/{plural}/{name}", rest


def _apply(client: Client, text: str) -> Answer:
    thing = yaml.load(text, Loader=yaml.CSafeLoader)
    resource = client.resource(thing["apiVersion"], thing["kind"])
    path = resource.path(thing["metadata"].get("namespace"), thing["metadata"]["name"])
    query = {"fieldManager": "kubectl", "fieldValidation": "Strict"}
    return client.request("PATCH", path, text, content_type=APPLY, query=query)


def _delete(client: Client, path: str, *, wait: bool) -> Answer:
    """Delete, and wait until the object is gone, as kubectl does by default."""
    answer = client.request("DELETE", path, json.dumps({"propagationPolicy": "Background"}))
    end = time.monotonic() + GONE_S
    while wait and answer.ok and client.get(path).status != 404:
        if time.monotonic() > end:
            return Answer(504, {"message": f"{path} is not gone after {GONE_S:.0f} s"})
        time.sleep(0.05)
    return answer
