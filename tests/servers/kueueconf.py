"""Does the real Kueue manager accept this Configuration (config.kueue.x-k8s.io)?

First it gets the file unchanged: Kueue decodes it strictly and validates it, then stops because
there is no cluster. Then it gets the file with other addresses, certificates, leader election and
visibility server, and an API server of its own (etcd, API server, Kueue's CRDs). The exit code is 0
if Kueue starts, becomes ready and stays up; else it is 1, and Kueue's error is printed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import time
from pathlib import Path

import yaml

from . import kueue
from .bench import Bench, Options
from .build import BuildError, Built, build
from .client import ApiError
from .process import Process, ServerError, answers
from .upstream import ETCD, KEYS, KUBERNETES, KUEUE

READY_DEADLINE_S = 120.0
DECODE_DEADLINE_S = 60.0
CONFIGURATION_ERRORS = (
    "Unable to load the configuration",
    "conflicting feature gates detected",
    "Unable to validate the configuration",
    "Unable to parse TLS options from configuration",
    "Unable to configure webhook server",
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="kueueconf.py", description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--seconds", type=float, default=3.0, help="stay up this long (3)")
    parser.add_argument("--log", type=Path, help="copy the manager's log to this file")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that we clean up
    try:
        problems, log = _run(options.file.resolve(), options.seconds)
    except (OSError, BuildError, ServerError, ApiError) as error:
        print(f"kueueconf: {error}", file=sys.stderr)
        return 2
    if options.log:
        options.log.write_text(log, encoding="utf-8")
    for problem in problems:
        print(problem)
    if not problems:
        print("accepted and started")
    return 1 if problems else 0


def _run(file: Path, seconds: float) -> tuple[list[str], str]:
    built = build([KEYS, ETCD, KUBERNETES, KUEUE], quiet=True)
    bench = Bench(built, Options(parts=frozenset(), volcano_crds=False))
    try:
        refused, log = decode(bench, built["kueue"], file)
        if refused:
            return refused, log
        bench.start()
        configuration = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)
        process = bench.run_kueue("kueue-trial", configuration)
        problems = _stays_up(bench, process, seconds)
        return problems, log + process.log.read_text(encoding="utf-8", errors="replace")
    finally:
        bench.stop(keep=False)


def decode(bench: Bench, built: Built, file: Path) -> tuple[list[str], str]:
    """Start it on the file as it is, without certificates and cluster: it must get that far."""
    empty = bench.state / "run" / "empty-etc"
    empty.mkdir(exist_ok=True)
    mine = bench.state / "kueue-as-it-is.yaml"
    shutil.copyfile(file, mine)
    (bench.state / "logs" / "kueue-decode.log").unlink(missing_ok=True)
    process = bench.run(
        "kueue-decode",
        [built.binary("kueue"), f"--config={mine}"],
        {"POD_NAMESPACE": kueue.NAMESPACE},
        [(empty, Path("/etc"))],
    )
    end = time.monotonic() + DECODE_DEADLINE_S
    while process.exit_code is None and time.monotonic() < end:
        time.sleep(0.05)
    process.stop()
    log = process.log.read_text(encoding="utf-8", errors="replace")
    del bench.processes["kueue-decode"]
    return [error for error in _errors(log) if error.startswith(CONFIGURATION_ERRORS)], log


def _stays_up(bench: Bench, process: Process, seconds: float) -> list[str]:
    try:
        process.wait_until(lambda: answers(bench.kueue_health), READY_DEADLINE_S)
        time.sleep(seconds)
    except ServerError as error:
        if process.exit_code is None:
            return [str(error)]
    if process.exit_code is None:
        return []
    process.stop()
    log = process.log.read_text(encoding="utf-8", errors="replace")
    return [*_errors(log), f"ended with {process.exit_code}"]


def _errors(log: str) -> list[str]:
    """Its error lines, each once: message and error."""
    found: dict[str, None] = {}
    for line in log.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            if line.startswith(("panic:", "fatal error:", "launch:")):
                found[line] = None
            continue
        if isinstance(entry, dict) and entry.get("level") in {"error", "fatal", "dpanic", "panic"}:
            found[f"{entry.get('msg')}: {entry.get('error')}"] = None
    return list(found)


if __name__ == "__main__":
    sys.exit(main())
