"""The command that simulates the schedulers: simulate."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from policygen.app.requests import ClusterRequest, SimulateRequest
from policygen.cli.options import (
    ACCESS,
    CLUSTER,
    SPECS,
    TARGET,
    TEMPLATES,
    context,
    fields,
    for_people,
    form,
    options,
    paths,
    snapshots,
    stdin,
)
from policygen.cli.stderr import progress, say
from policygen.core.errors import ExitCode

if TYPE_CHECKING:  # --help does not load the schedulers
    from policygen.report.simulation import SimulationReport
    from policygen.simulate.result import SimulationResult

TRACE_FORMS = ("csv", "philly", "openb")
STARVES = "starves"
FAIL_ON = ("never-starts", STARVES, "waiting")
"""What --fail-on knows about jobs that wait; each includes those before it."""
INTERRUPTED = 130


class Duration(click.ParamType[float]):
    """A duration such as `90s`, `1h30m` or `7d`, in seconds."""

    name = "duration"

    def __init__(self, *, zero: bool = False) -> None:
        """With `zero`, 0 is a duration, too."""
        self._zero = zero

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The seconds; fails for other text."""
        if isinstance(value, float):
            return value
        from policygen.core import durations

        found = durations.written(str(value))
        if found == 0 and not self._zero:
            self.fail(f"{value} is too short; write a duration above 0", param, ctx)
        if found is None or found < 0:
            fault = "is not a duration" if found is None else "is negative"
            self.fail(f"{value!r} {fault}; {durations.EXAMPLES}", param, ctx)
        return float(found)


def _teams(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Values such as `11cb48=vision` as a mapping."""
    found: dict[str, str] = {}
    for value in values:
        name, equals, team = value.rpartition("=")
        if not name or not equals or not team:
            raise click.BadParameter(f"{value!r} is not valid; write NAME=TEAM")
        if found.setdefault(name, team) != team:
            raise click.BadParameter(f"{name} has two teams; write only one")
    return found


TRACE = (
    click.option(
        "--trace",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Also read the jobs of this CSV file, which may be compressed with gzip. See docs/traces.md.",
    ),
    click.option(
        "--trace-format",
        type=click.Choice(TRACE_FORMS),
        help="The format of the trace.  [default: the first line decides]",
    ),
    click.option(
        "--trace-team",
        "trace_teams",
        multiple=True,
        callback=_teams,
        metavar="NAME=TEAM",
        help="The team for a name of the trace, such as 11cb48=vision; * is any other name; repeatable.",
    ),
)
"""The options that name a trace."""


MODELS = click.option(
    "--models/--no-models",
    default=None,
    help=(
        "Whether the models of the SPEC are jobs, too: serving models with their least replicas, training and "
        "batch models as jobs.  [default: yes, if no cluster or snapshot is read]"
    ),
)


ASSUME = click.option(
    "--assume",
    multiple=True,
    metavar="NAME=OUTCOME",
    help=(
        "What other controllers do: check/NAME=Ready:5m or check/NAME=Retry:5m,Rejected:1m for an admission check of "
        "Kueue, gate/NAME=10m for a scheduling gate, nodes/POOL=2..8:5m for an autoscaler of nodes; repeatable."
    ),
)


@click.command(
    epilog="""\b
Examples:
  policygen simulate spec/ --workloads jobs/
  policygen simulate --snapshot prod.snapshot
  policygen simulate spec/ --snapshot prod.snapshot --until 2d
  policygen simulate spec/ --against new-spec/ --workloads jobs/
  policygen simulate git:main:platform/spec --against platform/spec --workloads jobs/
  policygen simulate spec/ --trace jobs.csv
  policygen simulate spec/ --workloads jobs/ --fail-on never-starts
  policygen simulate --snapshot prod.snapshot --assume check/provision=Ready:5m
  policygen simulate spec/ --workloads jobs/ -f csv -o jobs.csv

Exit codes: 0 simulated, 1 a job waits as --fail-on describes, 2 wrong usage or invalid spec, 3 something
could not be read, or a feature that is in use is not modelled (the report names it), 4 internal error,
130 interrupted by Ctrl-C (the report is partial).
"""
)
@SPECS
@click.option(
    "--workloads",
    multiple=True,
    metavar="PATH",
    shell_complete=paths,
    help=(
        "Simulate the jobs in this file, folder or - (standard input); repeatable. Its queues, nodes and "
        "other objects are used, too."
    ),
)
@options(*TRACE, MODELS)
@click.option(
    "--against",
    metavar="STATE",
    shell_complete=paths,
    help=(
        "Simulate the same jobs also with this spec, manifests or snapshot, and show what changes for each "
        "team. git:REVISION:PATH is a file or folder of a git revision."
    ),
)
@context("Simulate the jobs of the live cluster of this kubeconfig context, read-only.")
@snapshots("Simulate the jobs of the snapshot in this file, which `policygen snapshot` wrote.")
@click.option(
    "--duration",
    type=Duration(zero=True),
    default="1h",
    show_default=True,
    metavar="DURATION",
    help="How long jobs without the annotation policygen.dev/runs-for run.",
)
@click.option(
    "--until",
    type=Duration(zero=True),
    metavar="DURATION",
    help="End the simulation after this time.  [default: when all jobs have ended]",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Seed for decisions that the schedulers make at random.",
)
@options(ASSUME)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    help=(
        "Exit 1 if a job never starts; with `starves`, also if jobs that were submitted later keep a job "
        "waiting; with `waiting`, if any job still waits when the simulation ends. With --against, it applies "
        "to the second state."
    ),
)
@TARGET
@CLUSTER
@TEMPLATES
@options(*ACCESS)
@form(csv="CSV with a line for each job", csv_teams="for each team", csv_pools="for each pool")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the report to this file.  [default: standard output]",
)
@click.option("--all", "every", is_flag=True, help="List all jobs, not only the first 50.")
def simulate(**given: Any) -> None:
    """Simulate what Kueue and kube-scheduler do with jobs: who runs when and where, and who waits.

    The queues and nodes are those of a SPEC, of manifests, of a snapshot or of a live cluster. The objects
    of a SPEC replace those of the cluster, so you see its effect before you apply it. Nothing is changed.
    """
    request = _request(given)
    from policygen.app import compare, delivery
    from policygen.app import simulate as app_simulate
    from policygen.report import simulation, simulation_changes, simulation_csv, simulation_json

    source = stdin((*request.specs, *request.workloads))
    output: Path | None = given["output"]
    module = {"json": simulation_json, "csv": simulation_csv}.get(given["form"])
    sums = {"csv-teams": simulation_csv.write_teams, "csv-pools": simulation_csv.write_pools}
    reports: Sequence[SimulationReport]
    try:
        if given["against"]:
            against = given["against"]
            reports = compare.compare(request, against, stdin=source, progress=progress)
        else:
            reports = [app_simulate.simulate(request, stdin=source, progress=progress)]
    except KeyboardInterrupt:
        say("policygen: interrupted, so there is no report")
        raise
    if given["form"] in sums:
        page = delivery.page(sums[given["form"]], reports)
    elif len(reports) > 1:
        both = partial(simulation_changes.write, every=given["every"])
        write = module.write_comparison if module else for_people(both, given["form"], output)
        page = delivery.page(write, reports)
    else:
        one = partial(simulation.write, every=given["every"])
        page = delivery.page(
            module.write if module else for_people(one, given["form"], output), reports[0]
        )
    delivery.send([(output, page)])
    if any(it.interrupted or it.result.partial for it in reports):
        reasons = (it.interrupted for it in reports if it.interrupted)
        say(f"policygen: {next(reasons, 'interrupted, so the report is partial')}")
        raise SystemExit(INTERRUPTED)
    unread = dict.fromkeys(text for it in reports for text in it.unread)
    for text_ in unread if given["form"] not in ("text", "markdown") else ():
        say(f"policygen: not read: {text_}")
    if unread or any(it.result.unmodelled for it in reports):
        raise SystemExit(ExitCode.INCOMPLETE)
    raise SystemExit(_verdict(reports[-1].result, given["fail_on"]))


def _verdict(result: "SimulationResult", fail_on: str | None) -> ExitCode:
    """The exit code for the jobs that wait."""
    faults = FAIL_ON[: FAIL_ON.index(fail_on) + 1] if fail_on else ()
    if any(it.state.value in faults for it in result.jobs):
        return ExitCode.FINDINGS
    if STARVES in faults and result.starving:
        return ExitCode.FINDINGS
    if fail_on == STARVES and not result.examined:
        say("policygen: there are too many jobs to look for those that starve; use a shorter trace")
        return ExitCode.INCOMPLETE
    return ExitCode.CLEAN


def _request(given: dict[str, Any]) -> SimulateRequest:
    """The request of the options. Raises UsageError."""
    clusters = ClusterRequest(**fields(ClusterRequest, given))
    request = SimulateRequest(**fields(SimulateRequest, given), clusters=clusters)
    inputs = (*request.specs, *request.workloads)
    if not inputs and not clusters.named:
        raise click.UsageError(
            "nothing to simulate: name a SPEC (alone, or with --workloads PATH or --trace FILE), "
            "--snapshot FILE, or --context CONTEXT"
        )
    if given["against"] and not request.specs and not clusters.named:
        raise click.UsageError(
            "--against compares two states; also name the first one: a SPEC, a folder of manifests, or "
            "--snapshot FILE"
        )
    if inputs.count("-") + (given["against"] == "-") > 1:
        raise click.UsageError("standard input can be read only once; write - only once")
    return request
