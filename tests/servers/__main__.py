"""Build and run the control plane: `python -m tests.servers {build,up,nodes,facts,matrix}`."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from . import facts, matrix
from .bench import EVERYTHING, KUBERNETES, KUEUE, KWOK, VOLCANO, Bench, Options
from .build import BuildError, build
from .client import ApiError, Client
from .loaders import CONVERTER, LOADERS
from .nodes import Shape, add_nodes
from .process import ServerError
from .running import kubeconfig_option
from .upstream import (
    ALL,
    CONTROL_PLANE,
    EVERY_KUBERNETES,
    KUBE_SCHEDULER_SCORES,
    OPERATORS,
    TOOLS,
    control_plane,
)

WATCH_S = 0.5
INTERRUPTED = 130
ENDINGS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Ended(BaseException):
    """A signal asked us to end."""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    for name in ENDINGS:
        signal.signal(name, _end)
    try:
        return COMMANDS[options.command](options)
    except Ended:
        return 0 if options.command == "up" else INTERRUPTED
    except (BuildError, ServerError, ApiError, OSError, subprocess.SubprocessError) as error:
        print(f"controlplane: {error}", file=sys.stderr)
        return 1


def _build(options: argparse.Namespace) -> int:
    by_name = {upstream.folder.name: upstream for upstream in (*ALL, *EVERY_KUBERNETES)}
    for upstream in [by_name[name] for name in options.upstream] or (
        *CONTROL_PLANE,
        KUBE_SCHEDULER_SCORES,
        *LOADERS,
        CONVERTER,
        *TOOLS,
    ):
        built = build([upstream])[upstream.name]
        for binary in upstream.binaries:
            print(built.binary(binary.name))
    return 0


def _up(options: argparse.Namespace) -> int:
    left_out = frozenset(options.without)
    choice = Options(
        parts=EVERYTHING - left_out,
        kueue_crds=KUEUE not in left_out,
        volcano_crds=VOLCANO not in left_out,
        scheduler_config=options.scheduler_config,
        kueue_config=options.kueue_config,
        volcano_config=options.volcano_config,
        complete_jobs=options.complete_jobs,
    )
    built = build(u for u in control_plane(options.kubernetes) if u.name not in left_out)
    with Bench(built, choice) as bench:
        for what, seconds in bench.timings.items():
            print(f"{seconds:5.1f} s  {what}", file=sys.stderr)
        if options.nodes:
            shape = Shape(gpus=options.gpus)
            add_nodes(bench.client, {f"node-{i}": shape for i in range(options.nodes)})
        print(f"logs: {bench.state / 'logs'}", file=sys.stderr)
        print(f"KUBECONFIG={bench.kubeconfig}", flush=True)
        _watch(bench, restart=options.restart)
    return 0


def _nodes(options: argparse.Namespace) -> int:
    client = Client.from_kubeconfig(options.kubeconfig or kubeconfig_option(None))
    shape = Shape(
        gpus=options.gpus,
        gpu_resource=options.resource,
        cpu=options.cpu,
        memory=options.memory,
        labels=dict(label.split("=", 1) for label in options.label),
    )
    add_nodes(client, {f"{options.prefix}-{i}": shape for i in range(options.count)})
    return 0


def _facts(_options: argparse.Namespace) -> int:
    built = build(u for u in (*CONTROL_PLANE, *OPERATORS) if u.name != KWOK)
    with Bench(built, Options(parts=frozenset(), operator_crds=True)) as bench:
        changed = facts.write(facts.collect(bench.client))
    for path in changed:
        print(path)
    print(f"{len(changed)} files of {facts.FOLDER} changed", file=sys.stderr)
    return 0


def _matrix(options: argparse.Namespace) -> int:
    rows = matrix.run(
        upstream
        for upstream in EVERY_KUBERNETES
        if not options.only or upstream.minor in options.only
    )
    for line in matrix.table(rows):
        print(line)
    return 0 if all(row.ok for row in rows) else 1


COMMANDS = {"build": _build, "up": _up, "nodes": _nodes, "facts": _facts, "matrix": _matrix}


def _watch(bench: Bench, *, restart: bool) -> None:
    """Wait for a signal; a server that ends on its own is an error, or is started again."""
    while True:
        time.sleep(WATCH_S)
        for process in bench.dead():
            said = f"{process.name} ended with {process.exit_code}; {process.log}"
            if not restart:
                raise ServerError(f"{said}:\n{process.tail()}")
            print(f"{said}: starting it again", file=sys.stderr, flush=True)
            bench.restart(process)


def _end(_signal: int, _frame: FrameType | None) -> None:
    for name in ENDINGS:
        signal.signal(name, signal.SIG_IGN)  # a second Ctrl-C does not disturb the clean-up
    raise Ended


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("build", help="build what is missing and print the binaries' paths")
    make.add_argument("upstream", nargs="*", help="only these (default: what `up` needs)")
    up = commands.add_parser("up", help="start everything, print KUBECONFIG=..., wait for a signal")
    releases = [upstream.minor for upstream in EVERY_KUBERNETES]
    up.add_argument("--kubernetes", choices=releases, default="", help="release (the newest)")
    up.add_argument("--scheduler-config", type=Path, help="KubeSchedulerConfiguration to use")
    up.add_argument("--kueue-config", type=Path, help="Kueue Configuration to use")
    up.add_argument("--volcano-config", type=Path, help="Volcano scheduler configuration to use")
    up.add_argument("--nodes", type=int, default=0, help="make this many fake nodes")
    up.add_argument("--gpus", type=int, default=8, help="GPUs of each fake node (8)")
    up.add_argument("--complete-jobs", action="store_true", help="end Jobs' pods at once")
    up.add_argument("--restart", action="store_true", help="start a server that died again")
    up.add_argument(
        "--without",
        action="append",
        default=[],
        choices=sorted(EVERYTHING - {KUBERNETES}),
        help="leave a part out (repeatable)",
    )
    nodes = commands.add_parser("nodes", help="add fake nodes to a running control plane")
    nodes.add_argument("count", type=int)
    nodes.add_argument("--kubeconfig", type=kubeconfig_option)
    nodes.add_argument("--prefix", default="node", help="names are PREFIX-0, PREFIX-1, ... (node)")
    nodes.add_argument("--gpus", type=int, default=8)
    nodes.add_argument("--resource", default="nvidia.com/gpu")
    nodes.add_argument("--cpu", default="128")
    nodes.add_argument("--memory", default="1Ti")
    nodes.add_argument("--label", action="append", default=[], metavar="KEY=VALUE")
    commands.add_parser("facts", help="write schemas/cluster from what the servers say")
    several = commands.add_parser("matrix", help="run the tests on every release of Kubernetes")
    several.add_argument("--only", action="append", choices=releases, help="(repeatable)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
