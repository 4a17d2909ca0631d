"""Times commands in turn, so that a change of the machine's speed affects all of them."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Timing:
    """Wall and processor seconds of the runs of one command, and the peak memory of all its processes."""

    wall: list[float]
    cpu: list[float]
    peak_mib: float

    @property
    def median(self) -> float:
        """Of the wall seconds."""
        return statistics.median(self.wall)


ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
"""Lets Python write bytecode, which installed programs have too."""


def once(command: Sequence[str], codes: Container[int] = (0,)) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak MiB of one run; its output is thrown away.

    Exits the benchmark if the command ends with another exit code.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        sys.exit(f"{' '.join(map(str, command))}: exit code {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def peak_of_all(command: Sequence[str], codes: Container[int] = (0,)) -> float:
    """The peak MiB of all processes of a command together, sampled. Shared pages count once.

    Without /proc, the peak of the largest process.
    """
    if not Path("/proc/self/smaps_rollup").exists():
        return once(command, codes)[2]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT
    )
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(_proportional_kib, _with_children(process.pid))))
        time.sleep(0.01)
    if process.returncode not in codes:
        sys.exit(f"{' '.join(map(str, command))}: exit code {process.returncode}")
    return peak / 1024


def _with_children(pid: int) -> list[int]:
    with suppress(OSError):  # it has ended
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii")
        return [pid, *(each for child in found.split() for each in _with_children(int(child)))]
    return []


def _proportional_kib(pid: int) -> int:
    with suppress(OSError):  # likewise
        for row in Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines():
            if row.startswith("Pss:"):
                return int(row.split()[1])
    return 0


def in_turn(
    commands: Sequence[Sequence[str]], runs: int, codes: Container[int] = (0,)
) -> list[Timing]:
    """Run each command so many times after one warm-up, which measures the memory: A B A B."""
    timings = [Timing([], [], peak_of_all(command, codes)) for command in commands]
    for _ in range(runs):
        for index, command in enumerate(commands):
            wall, cpu, _ = once(command, codes)
            timings[index].wall.append(wall)
            timings[index].cpu.append(cpu)
    return timings


def line(name: str, timing: Timing) -> str:
    """A row: median, span, processor time, memory."""
    return (
        f"{name:28} {timing.median * 1000:9.1f} ms  ({min(timing.wall) * 1000:.1f} to "
        f"{max(timing.wall) * 1000:.1f})  cpu {statistics.median(timing.cpu) * 1000:9.1f} ms  "
        f"{timing.peak_mib:7.1f} MiB"
    )
