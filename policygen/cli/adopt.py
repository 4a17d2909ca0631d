"""The command that distils a spec from what exists: adopt."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from policygen.app import stdout
from policygen.cli.options import (
    ACCESS,
    EXIT_CODE,
    context,
    form,
    lint_request,
    options,
    paths,
    snapshots,
    stdin,
)
from policygen.cli.stderr import progress, say
from policygen.core.errors import ExitCode


@click.command(
    epilog="""\b
Examples:
  policygen adopt --context prod -o spec/
  policygen adopt --snapshot prod.snapshot > spec.yaml
  policygen adopt --manifests queues/ -o spec/
  policygen adopt --context prod -f json | jq .differences

Exit codes: 0 the spec renders everything that was read, 1 the list of differences is not empty, or the
objects contradict each other, 2 wrong usage or nothing to adopt, 3 something could not be read, 4 internal
error.
"""
)
@click.option(
    "--manifests",
    multiple=True,
    metavar="PATH",
    shell_complete=paths,
    help="Read the manifests in this file, folder or - (standard input); repeatable.",
)
@context("Read the live cluster of this kubeconfig context, read-only.")
@snapshots("Read the snapshot in this file, which `policygen snapshot` wrote.")
@click.option(
    "--set",
    "set_name",
    metavar="NAME",
    help="Adopt the objects of this set, if policygen rendered several.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write platform.yaml, pools.yaml, teams.yaml and models.yaml to this new folder.",
)
@form()
@EXIT_CODE
@options(*ACCESS)
def adopt(*, set_name: str | None, output: Path | None, exit_code: bool, **given: Any) -> None:
    """Write the spec of a cluster, a snapshot or manifests.

    The spec goes to standard output or to a folder. Values that no object shows are comments in
    the spec. Everything on which the rendered objects of this spec differ from the objects that
    were read goes to standard error, object by object and field by field.
    """
    from policygen.app import adopt as app_adopt
    from policygen.app import delivery
    from policygen.report import adoption as report

    named = [*given["manifests"], *given["contexts"], *given["snapshots"]]
    clusters = len(given["contexts"]) + len(given["snapshots"]) + bool(given["in_cluster"])
    if not named and not clusters:
        raise click.UsageError(
            "nothing to adopt: name --manifests PATH, --context CONTEXT or --snapshot FILE"
        )
    if clusters > 1 or (clusters and given["manifests"]):
        raise click.UsageError("one spec describes one cluster; name only one, or only manifests")
    request = app_adopt.AdoptRequest(lint_request(given), set_name)
    made = app_adopt.adopt(request, stdin=stdin(given["manifests"]), progress=progress)
    if output is not None:
        say(app_adopt.save(made, output))
    if given["form"] == "json":
        stdout.out(delivery.page(report.json, made))
    elif given["form"] == "markdown":
        stdout.out(delivery.page(partial(report.markdown, files=output is None), made))
    else:
        if output is None:
            stdout.out(made.text)
        for line in report.lines(made):
            say(line)
    if made.unread:
        raise SystemExit(ExitCode.INCOMPLETE)
    fails = made.differences and exit_code
    raise SystemExit(ExitCode.FINDINGS if fails else ExitCode.CLEAN)
