"""Starts real schedulers with many configurations, a few at a time, and returns their faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from .bench import Bench
from .process import ServerError
from .schedcheck import errors
from .volcanoconf import named, problems

AT_ONCE = 5
ELECTION = b"ttempting to acquire leader lease"
"""A kube-scheduler has checked the times of its election."""
ELECTION_DEADLINE_S = 60.0
SESSION = b"] Close Session "
"""Volcano's scheduler has been through everything once."""
SESSION_DEADLINE_S = 60.0
Start = Callable[[str], tuple[str, Callable[[], None]]]


def kube_schedulers(bench: Bench, configs: Sequence[str]) -> dict[str, list[str]]:
    """Faults by configuration: not ready, or an error line."""

    def start(config: str) -> tuple[str, Callable[[], None]]:
        name, healthy = bench.try_scheduler(config)
        process = bench.processes[name]

        def ran() -> None:
            healthy()
            if "leaderElect: true" in config:  # it checks the election's times after it is ready
                process.wait_until(
                    lambda: ELECTION in process.log.read_bytes(), ELECTION_DEADLINE_S
                )

        return name, ran

    return {
        config: [*([failure] if failure else []), *errors(log)]
        for config, failure, log in _tried(bench, start, configs)
        if failure or errors(log)
    }


def volcano_schedulers(bench: Bench, configs: Sequence[str]) -> dict[str, list[str]]:
    """Faults by configuration: a line of a warning or error, or something else was loaded."""
    found = {}

    def start(config: str) -> tuple[str, Callable[[], None]]:
        name, healthy = bench.try_volcano(config)
        process = bench.processes[name]

        def ran() -> None:
            healthy()
            process.wait_until(lambda: SESSION in process.log.read_bytes(), SESSION_DEADLINE_S)

        return name, ran

    for config, failure, log in _tried(bench, start, configs):
        said, _ = problems(log, named(config))
        if failure or said:
            found[config] = [*([failure] if failure else []), *said]
    return found


def _tried(bench: Bench, start: Start, configs: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Each configuration with what kept the server from its work, and its log."""
    for group in _groups(configs):
        started = [(config, *start(config)) for config in group]
        failures = [_failure(works) for _, _, works in started]
        for (config, name, _), failure in zip(started, failures, strict=True):
            log = bench.processes[name].log.read_text(encoding="utf-8", errors="replace")
            yield config, failure, log
        bench.end(*(name for _, name, _ in started))


def _failure(works: Callable[[], None]) -> str:
    try:
        works()
    except ServerError as error:
        return str(error)
    return ""


def _groups(configs: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(configs)
    while group := list(islice(rest, AT_ONCE)):
        yield group
