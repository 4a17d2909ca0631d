"""Does the real Volcano scheduler load this configuration without an error line?

Runs it for some seconds against an API server of its own (etcd, API server, Volcano's CRDs), so
that no running queue or pod group is touched. Prints each error and warning line of its log once.
The exit code is 0 only if there is no such line and the loaded configuration is that of the file.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import yaml

from .bench import Bench, Options
from .build import BuildError, build
from .client import ApiError
from .process import ServerError, answers
from .upstream import ETCD, KEYS, KUBERNETES, VOLCANO

READY_DEADLINE_S = 120.0
LOG_LINE = re.compile(r"^([WEF])\d{4} [\d:.]+ +\d+ (\S+?):\d+\] (.*)")
LOADED = re.compile(r"Final state: actions=\[(.*?)\], plugins=\[(.*?)\]")
HEADER = re.compile(r"^[IWEF]\d{4} [\d:.]+ +\d+ ")

Loaded = tuple[list[str], list[str]]
"""Actions and plugins."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="volcanoconf.py", description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--seconds", type=float, default=4.0, help="sessions, one a second (4)")
    parser.add_argument("--log", type=Path, help="copy the scheduler's log to this file")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that we clean up
    try:
        wanted = named(options.file.read_text(encoding="utf-8"))
        log = _run(options.file, options.seconds)
    except (OSError, BuildError, ServerError, ApiError) as error:
        print(f"volcanoconf: {error}", file=sys.stderr)
        return 2
    if options.log:
        options.log.write_text(log, encoding="utf-8")
    return _judge(log, wanted)


def _run(file: Path, seconds: float) -> str:
    built = build([KEYS, ETCD, KUBERNETES, VOLCANO], quiet=True)
    bare = Options(parts=frozenset(), kueue_crds=False)
    with Bench(built, bare) as bench:
        process = bench.run_volcano_scheduler("volcano-trial", file.resolve(), verbosity=4)
        try:
            process.wait_until(lambda: answers(bench.volcano_health), READY_DEADLINE_S)
            time.sleep(seconds)
            code = process.exit_code
        except ServerError:
            code = process.exit_code
        process.stop()
        log = process.log.read_text(encoding="utf-8", errors="replace")
        if code is not None:
            log += f"\nF0000 00:00:00.0 0 volcano-scheduler:0] ended with {code}\n"
        return log


def named(text: str) -> Loaded | None:
    """The actions and plugins that the file names; None if it is not such a configuration."""
    try:
        parsed = yaml.load(text, Loader=yaml.CSafeLoader)
        actions = [action.strip() for action in parsed["actions"].split(",")]
        plugins = [plugin["name"] for tier in parsed["tiers"] for plugin in tier["plugins"]]
    except (yaml.YAMLError, KeyError, TypeError, AttributeError):
        return None
    return actions, plugins


def _entries(log: str) -> Iterator[tuple[str, str]]:
    """Each log entry: its first line, and the last one of those that continue it."""
    first, last = "", ""
    for line in log.splitlines():
        if HEADER.match(line) or line.startswith(("panic:", "fatal error:")):
            yield first, last
            first, last = line, ""
        else:
            last = line
    yield first, last


def problems(log: str, wanted: Loaded | None) -> tuple[list[str], Loaded | None]:
    """The errors of this log, each line once, and the configuration that the scheduler loaded."""
    found: dict[str, None] = {}
    loaded = None
    for line, last in _entries(log):
        if entry := LOG_LINE.match(line):
            severity, source, text = entry.groups()
            found[f"{severity} {source}: {text}{f' ... {last}' if last else ''}"] = None
        elif line.startswith(("panic:", "fatal error:")):
            found[line] = None
        elif entry := LOADED.search(line):
            loaded = (entry.group(1).split(), entry.group(2).split())
    if loaded is None:
        found["it never said what it loaded"] = None
    elif wanted != loaded:
        found[f"the file names {wanted}, and {loaded} was loaded"] = None
    return list(found), loaded


def _judge(log: str, wanted: Loaded | None) -> int:
    found, loaded = problems(log, wanted)
    if loaded is not None:
        print(f"loaded: actions {' '.join(loaded[0])}; plugins {' '.join(loaded[1])}")
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
