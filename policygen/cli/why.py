"""The commands that explain waiting: why and fit."""

from pathlib import Path
from typing import Any

import click

from policygen.app import stdout
from policygen.app.requests import ClusterRequest, SimulateRequest
from policygen.cli.options import (
    ACCESS,
    SPECS,
    TARGET,
    Decorator,
    context,
    fields,
    form,
    options,
    paths,
    stdin,
    unique,
)
from policygen.cli.simulate import Duration
from policygen.cli.stderr import progress
from policygen.core.errors import ExitCode

UNKNOWN = 0.0
"""The duration of jobs if it is not known."""


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
                "Read jobs from this file, folder or - (standard input); repeatable. Queues, nodes and "
                "other objects in it count, too."
            ),
        ),
        context(f"{verb} the live cluster of this kubeconfig context, read-only."),
        click.option(
            "--snapshot",
            "snapshots",
            multiple=True,
            callback=unique,
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help=f"{verb} the snapshot in this file, which `policygen snapshot` wrote.",
        ),
        TARGET,
        click.option(
            "--templates",
            multiple=True,
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            metavar="DIR",
            help="The templates folder that you use to render the spec; repeatable.",
        ),
        *ACCESS,
        form("Output format: text for people, or JSON for programs."),
    )


@click.command(
    epilog="""\b
Examples:
  policygen why nlp/train-7 --context prod
  policygen why train-7 --snapshot prod.snapshot
  policygen why --context prod
  policygen why nlp/train-7 spec/ --workloads jobs/

Exit codes: 0 nothing waits, 1 a workload waits, 2 wrong usage or invalid spec, 3 something could not be
read, 4 internal error.
"""
)
@_inputs(
    click.argument("arguments", nargs=-1, metavar="[WORKLOAD]... [SPEC]...", shell_complete=paths),
    "Explain the workloads of",
)
def why(arguments: tuple[str, ...], **given: Any) -> None:
    """Explain why workloads wait, and find the smallest changes that let them start.

    A WORKLOAD is a name, a namespace and a name, or a kind, a namespace and a name: train-7,
    nlp/train-7, job/nlp/train-7. Without one, all pending workloads are explained. An argument that
    names a file or a folder is a SPEC. policygen tries each change with a simulation of Kueue and
    kube-scheduler, shows only changes that let the workload start, and what they cost others. Nothing
    is changed.
    """
    from policygen.documents.files import GIT

    specs = tuple(it for it in arguments if it == "-" or it.startswith(GIT) or Path(it).exists())
    names = [it for it in arguments if it not in specs]
    request = _request({**given, "specs": specs}, UNKNOWN)
    from policygen.app import why as app_why

    source = stdin((*request.specs, *request.workloads))
    text, waits = app_why.why(request, names, given["form"], stdin=source, progress=progress)
    stdout.out(text)
    raise SystemExit(ExitCode.FINDINGS if waits else ExitCode.CLEAN)


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
  policygen fit --team nlp --gpus 1 spec/ --workloads jobs/

Exit codes: 0 it would run now, 1 it would wait, 2 wrong usage or invalid spec, 3 something could not be
read, 4 internal error.
"""
)
@click.option("--team", required=True, metavar="TEAM", help="The team, or its namespace.")
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
    help="The pool, flavor or LocalQueue.  [default: the first one of the team]",
)
@click.option(
    "--resource",
    default="",
    metavar="NAME",
    help="The name of the GPU resource.  [default: the one of which the queue has a quota]",
)
@click.option("--cpu", type=Amount(), metavar="QUANTITY", help="CPU of each pod.")
@click.option("--memory", type=Amount(), metavar="QUANTITY", help="Memory of each pod.")
@click.option(
    "--priority", default="", metavar="CLASS", help="The WorkloadPriorityClass of the job."
)
@click.option(
    "--duration",
    type=Duration(),
    metavar="DURATION",
    help=(
        "How long each running job still runs, to compute when the job starts. Jobs with the annotation "
        "policygen.dev/runs-for run for that time."
    ),
)
@_inputs(SPECS, "Use")
def fit(**given: Any) -> None:
    """Answer whether a job would run now, and if not, why not and when.

    The job does not exist yet. policygen submits it to a simulation of the cluster, a snapshot or a
    SPEC. The answer names what the job costs others. Nothing is changed.
    """
    request = _request(given, given["duration"] or UNKNOWN)
    from policygen.app import why as app_why
    from policygen.simulate.why.fit import FitRequest

    names = ("team", "gpus", "pods", "pool", "resource", "cpu", "memory", "priority")
    asked = FitRequest(**{name: given[name] for name in names})
    source = stdin((*request.specs, *request.workloads))
    text, runs = app_why.would_fit(request, asked, given["form"], stdin=source, progress=progress)
    stdout.out(text)
    raise SystemExit(ExitCode.CLEAN if runs else ExitCode.FINDINGS)


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
    if clusters.number > 1:
        raise click.UsageError("only one cluster can be read; name one snapshot or context")
    if inputs.count("-") > 1:
        raise click.UsageError("standard input can be read only once; write - only once")
    return request
