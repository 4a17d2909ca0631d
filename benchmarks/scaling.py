"""How the time of a render grows with the number of objects.

    python benchmarks/scaling.py [--runs 3]

Prints the time per object at 1,000, 10,000 and 50,000 objects, less the time of the smallest
spec, and the ratio of the largest to the smallest of them.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from specs import OBJECTS_BESIDE, OBJECTS_PER_TEAM, spec
from timing import in_turn, line

SIZES = (1_000, 10_000, 50_000)
LEAST = OBJECTS_BESIDE + OBJECTS_PER_TEAM


def main() -> None:
    """Time each size in turn."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=3)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        commands = []
        for size in (LEAST, *SIZES):
            source = Path(name) / f"{size}.yaml"
            source.write_text(spec(size))
            commands.append([sys.executable, "-m", "policygen", "render", "-q", str(source)])
        base, *timings = in_turn(commands, given.runs)
    print(line(f"{LEAST} objects", base))
    per_object = []
    for size, timing in zip(SIZES, timings, strict=True):
        per_object.append((min(timing.wall) - min(base.wall)) / size * 1e6)
        print(line(f"{size} objects", timing), f"  {per_object[-1]:.1f} µs an object")
    spread = max(per_object) / min(per_object)
    print(f"ratio of the dearest object to the cheapest: {spread:.2f}; wanted at most 1.20")


if __name__ == "__main__":
    main()
