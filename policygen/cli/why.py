"""The commands that explain waiting: why and fit."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from policygen.app import stdout
from policygen.app.requests import ClusterRequest, SimulateRequest
from policygen.cli.options import (
    ACCESS,
    CLUSTER,
    SPECS,
    TARGET,
    TEMPLATES,
    Decorator,
    context,
    fields,
    for_people,
    form,
    options,
    paths,
    snapshots,
    stdin,
)
from policygen.cli.simulate import ASSUME, INTERRUPTED, MODELS, TRACE, Duration
from policygen.cli.spec_arguments import complete
from policygen.cli.stderr import progress, say
from policygen.core.errors import ExitCode
from policygen.core.quoting import counted

UNKNOWN = 0.0
"""The duration of jobs if it is not known."""
ONE_HOUR = "1h"
"""The duration of such jobs in a simulation over time."""
AT = click.option(
    "--at",
    type=Duration(zero=True),
    metavar="TIME",
    help=(
        "Simulate the jobs until this time after the start, such as 2h, and answer for the state then. "
        "Without it, all jobs of manifests have been submitted in their order, and no job has ended."
    ),
)


def _inputs(argument: Decorator, verb: str) -> Decorator:
    """The options that name the state."""
    return options(
        argument,
        click.option(
            "--workloads",
            multiple=True,
            metavar="PATH",
            shell_complete=paths,
            help=(
                "Read jobs from this file, folder or - (standard input); repeatable. Its queues, nodes and "
                "other objects are used, too."
            ),
        ),
        *TRACE,
        MODELS,
        ASSUME,
        context(f"{verb} the live cluster of this kubeconfig context, read-only."),
        snapshots(f"{verb} the snapshot in this file, which `policygen snapshot` wrote."),
        TARGET,
        CLUSTER,
        TEMPLATES,
        *ACCESS,
        form(),
    )


def _specs(arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments that are files, folders or standard input; the others are names."""
    from policygen.documents.files import GIT

    return tuple(it for it in arguments if it == "-" or it.startswith(GIT) or Path(it).exists())


def _workloads(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem[str]]":
    """Names of the workloads in the files that are named before on the line, and files."""
    from policygen.app.why import workload_names

    given = context.params
    specs = _specs(given.get("arguments") or ())
    clusters = ClusterRequest(snapshots=given.get("snapshots") or ())
    request = SimulateRequest(specs, workloads=given.get("workloads") or (), clusters=clusters)
    found = [
        CompletionItem(it)
        for it in workload_names(request)
        if it.startswith(incomplete) or it.partition("/")[2].startswith(incomplete or "/")
    ]
    return [*found, *paths(context, parameter, incomplete)]


@click.command(
    epilog="""\b
Examples:
  policygen why nlp/train-7 --context prod
  policygen why train-7 --snapshot prod.snapshot
  policygen why --context prod
  policygen why nlp/train-7 spec/ --workloads jobs/
  policygen why nlp/train-7 spec/ --workloads jobs/ --at 2h
  policygen why nlp/job-7 spec/ --trace jobs.csv --at 2h

Exit codes: 0 nothing waits, 1 a workload waits, 2 wrong usage or invalid spec, 3 something could not be
read, or nothing waits and a feature that is in use is not modelled (the answer names it), 4 internal
error, 130 interrupted by Ctrl-C (the report is partial).
"""
)
@_inputs(
    click.argument(
        "arguments", nargs=-1, metavar="[WORKLOAD]... [SPEC]...", shell_complete=_workloads
    ),
    "Explain the workloads of",
)
@AT
@click.option(
    "--duration",
    type=Duration(),
    default=ONE_HOUR,
    show_default=True,
    metavar="DURATION",
    help="With --at: how long jobs without the annotation policygen.dev/runs-for run.",
)
def why(arguments: tuple[str, ...], **given: Any) -> None:
    """Explain why workloads wait, and find the smallest changes that let them start.

    A WORKLOAD is a name, a namespace and a name, or a kind, a namespace and a name: train-7,
    nlp/train-7, job/nlp/train-7. Without one, all pending workloads are explained. An argument that
    names a file or a folder is a SPEC. policygen tries each change with a simulation of Kueue and
    kube-scheduler, shows only changes that let the workload start, and what they cost others. Nothing
    is changed.
    """
    specs = _specs(arguments)
    names = [it for it in arguments if it not in specs]
    at: float | None = given["at"]
    request = _request({**given, "specs": specs}, UNKNOWN if at is None else given["duration"])
    from policygen.app import delivery
    from policygen.app import why as app_why
    from policygen.report import why as report

    source = stdin((*request.specs, *request.workloads))
    with _answering("report"):
        found = app_why.why(request, names, at=at, stdin=source, progress=progress)
    write = report.json if given["form"] == "json" else for_people(report.text, given["form"])
    stdout.out(delivery.page(write, found))
    if found.partial:
        explained = f"{found.asked - found.omitted} of {counted(found.asked, 'workload')}"
        say(f"policygen: interrupted, so the report is partial: it explains {explained}")
        raise SystemExit(INTERRUPTED)
    raise SystemExit(_exit_code(found.waiting, found.unread, found.unmodelled))


class Amount(click.ParamType[Any]):
    """A Kubernetes quantity, such as 8, 500m or 64Gi."""

    name = "quantity"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The amount; fails for other text."""
        from policygen.core import quantity

        try:
            amount = quantity.parse(value).value if isinstance(value, str) else value
        except ValueError:
            amount = None
        if amount is None or amount < 0:
            self.fail(f"{value!r} is not a quantity; write for example 8, 500m or 64Gi", param, ctx)
        return amount


@click.command(
    epilog="""\b
Examples:
  policygen fit --team nlp --gpus 8 --pool a100 --context prod
  policygen fit --team nlp --gpus 8 --pods 4 --snapshot prod.snapshot --duration 2h
  policygen fit --team nlp --gpus 1 spec/ --workloads jobs/ --at 2h

Exit codes: 0 it would run now, 1 it would wait, 2 wrong usage or invalid spec, 3 something could not be
read, or it would run and a feature that can affect it is not modelled (the answer names it), 4 internal
error, 130 interrupted by Ctrl-C (without an answer).
"""
)
@click.option(
    "--team",
    required=True,
    metavar="TEAM",
    shell_complete=complete("team"),
    help="The team, or its namespace.",
)
@click.option(
    "--gpus", required=True, type=click.IntRange(min=1), metavar="N", help="GPUs of each pod."
)
@click.option(
    "--pods",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="The number of pods, which start together.",
)
@click.option(
    "--pool",
    default="",
    metavar="POOL",
    shell_complete=complete("pool"),
    help=(
        "The pool, flavor, LocalQueue or queue of Volcano.  [default: the first one of the team in which "
        "the job runs now]"
    ),
)
@click.option(
    "--resource",
    default="",
    metavar="NAME",
    help="The name of the GPU resource.  [default: the one for which the queue has a quota]",
)
@click.option("--cpu", type=Amount(), metavar="QUANTITY", help="CPU of each pod.")
@click.option("--memory", type=Amount(), metavar="QUANTITY", help="Memory of each pod.")
@click.option(
    "--priority",
    default="",
    metavar="CLASS",
    help="The WorkloadPriorityClass of the job; for Volcano, its PriorityClass.",
)
@click.option(
    "--duration",
    type=Duration(),
    metavar="DURATION",
    help=(
        "How long each running job still runs, to compute when the job starts. Jobs with the annotation "
        f"policygen.dev/runs-for run for that time.  [default with --at: {ONE_HOUR}]"
    ),
)
@AT
@_inputs(SPECS, "Use")
def fit(**given: Any) -> None:
    """Answer whether a job would run now, and if not, why not and when.

    The job does not exist yet. policygen submits it to a simulation of the cluster, a snapshot or a
    SPEC. The answer names what the job costs others. Nothing is changed.
    """
    at: float | None = given["at"]
    unknown = UNKNOWN if at is None else Duration().convert(ONE_HOUR, None, None)
    request = _request(given, given["duration"] or unknown)
    from policygen.app import delivery
    from policygen.app import why as app_why
    from policygen.report import why as report
    from policygen.simulate.why.fit_jobs import FitRequest

    names = ("team", "gpus", "pods", "pool", "resource", "cpu", "memory", "priority")
    asked = FitRequest(**{name: given[name] for name in names})
    source = stdin((*request.specs, *request.workloads))
    with _answering("answer"):
        found = app_why.would_fit(request, asked, at=at, stdin=source, progress=progress)
    write = (
        report.fit_json if given["form"] == "json" else for_people(report.fit_text, given["form"])
    )
    stdout.out(delivery.page(write, found))
    raise SystemExit(_exit_code(found.waiting, found.unread, found.unmodelled_of_job))


@contextmanager
def _answering(what: str) -> Iterator[None]:
    """After Ctrl-C, report what was stopped and what is known, before the exit."""
    try:
        yield
    except KeyboardInterrupt as stop:
        progress("")
        say(f"policygen: {str(stop) or 'interrupted'}; there is no {what}")
        raise SystemExit(INTERRUPTED) from None


def _exit_code(waiting: int, unread: Sequence[str], unmodelled: Sequence[Any]) -> ExitCode:
    """The exit code of an answer that was not interrupted."""
    if unread or (unmodelled and not waiting):
        return ExitCode.INCOMPLETE
    return ExitCode.FINDINGS if waiting else ExitCode.CLEAN


def _request(given: dict[str, Any], duration: float) -> SimulateRequest:
    """The request of the options. Raises UsageError."""
    clusters = ClusterRequest(**fields(ClusterRequest, given))
    known = {**fields(SimulateRequest, given), "duration": duration}
    request = SimulateRequest(**known, clusters=clusters)
    inputs = (*request.specs, *request.workloads)
    if not inputs and not clusters.named:
        raise click.UsageError(
            "the cluster is not named; add --context CONTEXT, --snapshot FILE, or a SPEC with "
            "--workloads PATH"
        )
    if request.trace and given["at"] is None:
        raise click.UsageError("the jobs of a trace have times; add --at TIME")
    if inputs.count("-") > 1:
        raise click.UsageError("standard input can be read only once; write - only once")
    return request
