"""How the time of a lint grows with the number of objects: sound ones, and ones of which each is at fault.

    python benchmarks/lint_scaling.py [--runs 3]

Prints the processor time at 1,000, 10,000 and 100,000 objects, less the time of 120, which is nearly
all start-up, and the exponent by which it grows from one size to the next: 1 is linear.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from clusters import job, node, policy
from timing import in_turn, line

SIZES = (1_000, 10_000, 100_000)
LEAST = 120  # the cohorts and flavors that every set contains
PER_FILE = 20_000


def objects(count: int) -> Iterator[Any]:
    """As many objects: six parts policy, two nodes, two Jobs."""
    policies = list(policy(max(LEAST, count * 6 // 10)))
    teams = sum(it["kind"] == "Namespace" for it in policies) or 1
    yield from policies
    for index in range((count - len(policies)) // 2):
        yield node(index)
        yield job(index, teams)


def spoiled(count: int) -> Iterator[Any]:
    """The same number of objects, each with a different missing reference."""
    for index, it in enumerate(objects(count)):
        match it["kind"]:
            case "LocalQueue":
                it["spec"]["clusterQueue"] = f"taem-{index}"
            case "ClusterQueue":
                it["spec"]["cohortName"] = f"chort-{index}"
                it["spec"]["resourceGroups"][0]["flavors"][0]["name"] = f"flvor-{index}"
            case "Job":
                it["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = f"quue-{index}"
                it["spec"]["template"]["spec"]["priorityClassName"] = f"hihg-{index}"
                it["spec"]["template"]["spec"]["nodeSelector"] = {"pool": f"pol-{index}"}
        yield it


def write(folder: Path, made: Iterator[Any]) -> Path:
    """Lists of objects, each in a file of its own."""
    folder.mkdir()
    number = 0
    while items := list(islice(made, PER_FILE)):
        listed = {"apiVersion": "v1", "kind": "List", "items": items}
        (folder / f"{number}.json").write_text(json.dumps(listed))
        number += 1
    return folder


def main() -> None:
    """Time each size in turn."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=3)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for what, make in (("sound", objects), ("at fault", spoiled)):
            commands = []
            for size in (LEAST, *SIZES):
                folder = write(Path(name) / f"{what}-{size}", make(size))
                command = [sys.executable, "-m", "policygen", "lint", "-f", "json", "--manifests"]
                commands.append([*command, str(folder)])
            base, *timings = in_turn(commands, given.runs, codes=(0, 1))
            print(line(f"{what}: {LEAST} objects", base))
            spent = []
            for size, timing in zip(SIZES, timings, strict=True):
                spent.append(min(timing.cpu) - min(base.cpu))
                each = spent[-1] / size * 1e6
                print(line(f"{what}: {size} objects", timing), f"  {each:.1f} µs an object")
            for (few, short), (many, long) in pairwise(zip(SIZES, spent, strict=True)):
                exponent = math.log(long / short) / math.log(many / few)
                print(f"exponent from {few} to {many}: {exponent:.2f}; wanted at most 1.1")


if __name__ == "__main__":
    main()
