"""The command that writes a starter spec: init."""

import sys
from pathlib import Path
from typing import Any

import click

from policygen.app import stdout
from policygen.cli.stderr import say

SCHEDULERS = ("kueue", "volcano", "kube-scheduler")


@click.command(
    epilog="""\b
Examples:
  policygen init -o spec/policy.yaml
  policygen init --product h100-80gb --nodes 4 --team nlp --team vision > spec.yaml
  policygen init --pool train --scheduler volcano --team research -o spec/policy.yaml

Exit codes: 0 written, 2 wrong usage, 4 internal error.
"""
)
@click.option("--name", default="default", show_default=True, help="The name of the set.")
@click.option("--pool", metavar="NAME", help="The name of the pool.  [default: gpus]")
@click.option(
    "--product",
    metavar="NAME",
    help="The GPU product of its nodes, such as h100-80gb.  [default: a100-80gb]",
)
@click.option(
    "--nodes",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Its number of nodes.  [default: 2]",
)
@click.option(
    "--scheduler",
    type=click.Choice(SCHEDULERS),
    help="The scheduler of the pool.  [default: kueue]",
)
@click.option(
    "--team",
    "teams",
    multiple=True,
    metavar="NAME",
    help="A team that shares the pool; repeatable.  [default: team-a, team-b]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the spec to this new file.",
)
def init(*, name: str, output: Path | None, **given: Any) -> None:
    """Write a starter spec with comments: one pool, and teams that share it in equal parts.

    On a terminal, init prompts for the options that are missing. Elsewhere, it uses their defaults.
    For a cluster with queues, use `policygen adopt`.
    """
    from policygen.adopt.starter import StarterRequest
    from policygen.app import init as app_init

    teams = given["teams"] or _asked("Teams, separated by spaces", "team-a team-b").split()
    text = app_init.spec(
        StarterRequest(
            name=app_init.checked("--name", name),
            pool=app_init.checked(
                "--pool", given["pool"] or _asked("Name of the GPU pool", "gpus")
            ),
            product=app_init.product_of(
                given["product"] or _asked("GPU product of its nodes", "a100-80gb")
            ),
            nodes=given["nodes"] or _asked("Number of nodes", 2, click.IntRange(1, 1_000_000)),
            scheduler=given["scheduler"]
            or _asked("Scheduler of the pool", "kueue", click.Choice(SCHEDULERS)),
            teams=tuple(app_init.checked("--team", it) for it in teams),
        )
    )
    if output is None:
        stdout.out(text)
    else:
        say(app_init.save(text, output))


def _asked(question: str, default: Any, kind: Any = None) -> Any:
    """The answer of a person at a terminal; elsewhere the default."""
    if not _is_terminal():
        return default
    return click.prompt(question, default=default, type=kind, err=True)


def _is_terminal() -> bool:
    """Whether a person can read a question and answer it."""
    return all(it is not None and it.isatty() for it in (sys.stdin, sys.stderr))
