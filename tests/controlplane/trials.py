"""Starts real schedulers with many configurations, some at a time, and tells what each says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from .bench import Bench
from .process import ServerError
from .schedcheck import errors
from .volcanoconf import named, problems

AT_ONCE = 5
SESSION_S = 1.5
"""Volcano's sessions begin once a second: this long, so that each has one."""
Start = Callable[[str], tuple[str, Callable[[], None]]]


def kube_schedulers(bench: Bench, configs: Sequence[str]) -> dict[str, list[str]]:
    """Faults by configuration: not ready, or an error line."""
    return {
        config: [*([failure] if failure else []), *errors(log)]
        for config, failure, log in _tried(bench, bench.try_scheduler, configs)
        if failure or errors(log)
    }


def volcano_schedulers(bench: Bench, configs: Sequence[str]) -> dict[str, list[str]]:
    """Faults by configuration: a line of a warning or error, or something else was loaded."""
    found = {}
    for config, failure, log in _tried(bench, bench.try_volcano, configs, SESSION_S):
        said, _ = problems(log, named(config))
        if failure or said:
            found[config] = [*([failure] if failure else []), *said]
    return found


def _tried(
    bench: Bench, start: Start, configs: Sequence[str], for_s: float = 0.0
) -> Iterator[tuple[str, str, str]]:
    """Each configuration with what kept the server from being healthy, and its log."""
    for group in _groups(configs):
        started = [(config, *start(config)) for config in group]
        failures = [_failure(healthy) for _, _, healthy in started]
        time.sleep(for_s)
        for (config, name, _), failure in zip(started, failures, strict=True):
            log = bench.processes[name].log.read_text(encoding="utf-8", errors="replace")
            yield config, failure, log
        bench.end(*(name for _, name, _ in started))


def _failure(healthy: Callable[[], None]) -> str:
    try:
        healthy()
    except ServerError as error:
        return str(error)
    return ""


def _groups(configs: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(configs)
    while group := list(islice(rest, AT_ONCE)):
        yield group
