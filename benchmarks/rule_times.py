"""The processor time of each rule of `policygen lint` on the mixed manifests, the dearest first.

    python benchmarks/rule_times.py [--documents 10000] [--seed 1] [--runs 3] [--rows 30]

One process runs all rules. An index that rules share has a row of its own: its time counts there, not
for the rule that needs it first. Each time is the smallest of the runs.
"""

import argparse
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import mixed_manifests

from policygen.app import inputs
from policygen.app.judge import CheckSettings, judge_manifests
from policygen.app.requests import LintRequest
from policygen.core import processes
from policygen.kubernetes.cluster import Cluster
from policygen.lint.rule import Facts, Hits, ObjectRule


class Spans:
    """Seconds of processor time by name, without those of spans inside."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inner = [0.0]

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Measure a block."""
        begin = time.process_time()
        self._inner.append(0.0)
        yield
        took = time.process_time() - begin
        self.seconds[name] = self.seconds.get(name, 0.0) + took - self._inner.pop()
        self._inner[-1] += took


def measured(folder: Path) -> dict[str, float]:
    """The seconds of each rule and index of one lint."""
    spans, derive = Spans(), Cluster.derive
    known: set[tuple[Cluster, Callable[[Cluster], Any]]] = set()

    def derive_once(cluster: Cluster, make: Callable[[Cluster], Any]) -> Any:
        if (cluster, make) in known:
            return derive(cluster, make)
        known.add((cluster, make))
        with spans.span(f"index {make.__module__.rpartition('.')[2]}.{make.__qualname__}"):
            return derive(cluster, make)

    def timed(rule: ObjectRule) -> ObjectRule:
        def check(facts: Facts) -> Hits:
            with spans.span(rule.name):
                yield from rule.check(facts)

        return replace(rule, check=check)

    found = inputs.prepare(LintRequest(manifests=(str(folder),)))
    settings = CheckSettings(found.target, requested={})
    with mock.patch.object(Cluster, "derive", derive_once):
        judge_manifests(found.manifests, [*map(timed, found.selected.rules)], settings)
    return spans.seconds


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    for name, default in (("documents", 10_000), ("seed", 1), ("runs", 3), ("rows", 30)):
        arguments.add_argument(f"--{name}", type=int, default=default)
    given = arguments.parse_args()
    gc.disable()  # as the program does
    processes.usable = lambda: False
    with tempfile.TemporaryDirectory() as name:
        made = mixed_manifests.objects(given.documents, given.seed, 0)
        folder, _ = mixed_manifests.write(Path(name), made, given.seed, 100)
        runs = [measured(folder) for _ in range(given.runs)]
    least = {name: min(run.get(name, 0.0) for run in runs) for name in runs[0]}
    print(f"{sum(least.values()) * 1000:8.1f} ms in all")
    for name in sorted(least, key=lambda it: -least[it])[: given.rows]:
        print(f"{least[name] * 1000:8.1f} ms  {name}")


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # to free all objects takes longer
