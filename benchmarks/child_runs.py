"""Runs a benchmark of a snapshot several times, each time in a new process that reads the snapshot."""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def child_runs(
    script: str,
    description: str,
    write: Callable[[Path, int, int, int], None],
    child: Callable[[Path], None],
    *,
    runs: int,
) -> list[dict[str, Any]]:
    """What each process printed as JSON. A process of the script itself runs `child`, and ends.

    `write` makes the snapshot with numbers of nodes, pods and policy objects. `runs` is the default.
    """
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--nodes", type=int, default=5_000)
    arguments.add_argument("--pods", type=int, default=50_000)
    arguments.add_argument("--policy", type=int, default=2_000)
    arguments.add_argument("--runs", type=int, default=runs)
    arguments.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.child:
        child(given.child)
        sys.exit()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "bench.snapshot"
        write(path, given.nodes, given.pods, given.policy)
        command = [sys.executable, script, "--child", str(path)]
        return [
            json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            for _ in range(given.runs)
        ]
