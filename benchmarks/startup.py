"""How long the command takes to start.

    python benchmarks/startup.py [--runs 15]

`--version` and `--help` beside an empty click program's `--help`; `validate` of a 20-line spec
and `render` of an example beside `python -c pass`.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from timing import in_turn, line

CLICK = """\
import click


@click.group()
def cli():
    pass


cli()
"""

EXAMPLE = Path(__file__).parent.parent / "examples/volcano-training"

SPEC = """\
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata:
  name: a100
spec:
  nodeSelector:
    pool: a100
  gpu:
    product: NVIDIA-A100-SXM4-80GB
  capacity:
    nodes: 8
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata:
  name: vision
spec:
  namespaces: [{name: vision}]
  quotas:
    - {pool: a100, guarantee: 20}
"""


def main() -> None:
    """Time all five in turn."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=15)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "empty.py").write_text(CLICK)
        (folder / "spec.yaml").write_text(SPEC)
        ours = [sys.executable, "-m", "policygen"]
        names = ["python -c pass", "click --help", "--version", "--help", "validate", "render"]
        timings = in_turn(
            [
                [sys.executable, "-c", "pass"],
                [sys.executable, str(folder / "empty.py"), "--help"],
                [*ours, "--version"],
                [*ours, "--help"],
                [*ours, "validate", str(folder / "spec.yaml")],
                [*ours, "render", "-q", str(EXAMPLE)],
            ],
            given.runs,
        )
    for each, timing in zip(names, timings, strict=True):
        print(line(each, timing))
    bare, click, version, help_page, validate, render = (min(timing.wall) for timing in timings)
    print(f"ratio --version / click: {version / click:.2f}; wanted at most 1.30")
    print(f"ratio --help / click:    {help_page / click:.2f}; wanted at most 1.30")
    print(f"ratio validate / python: {validate / bare:.2f}; wanted at most 12")
    print(f"ratio render / python:   {render / bare:.2f}")


if __name__ == "__main__":
    main()
