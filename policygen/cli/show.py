"""The command show: the pools and teams of a spec."""

from typing import Any

import click

from policygen.app import stdout
from policygen.app.requests import RenderRequest
from policygen.cli.options import CLUSTER, TARGET, fields, for_people, form, paths, stdin
from policygen.cli.stderr import refusals


@click.command(
    epilog="""\b
Examples:
  policygen show spec/
  policygen show spec/ -f markdown > quotas.md
  policygen show spec/ -f svg > teams.svg

Exit codes: 0 shown, 2 wrong usage or invalid spec, 4 internal error.
"""
)
@click.argument("specs", nargs=-1, required=True, metavar="SPEC...", shell_complete=paths)
@TARGET
@CLUSTER
@form(mermaid="Mermaid for a graph in Markdown", svg="SVG for a graph")
def show(**given: Any) -> None:
    """Show the teams of each pool: guarantee, limit, weight, models, and what is free.

    The teams are drawn as a tree, with those from which each can borrow, and those whose workloads it
    can evict to take back its guarantee. As a graph, arrows show how much a team can borrow, and what it
    can take back.
    """
    from policygen.app import delivery, explain_name
    from policygen.explain import overview
    from policygen.report import mermaid, svg
    from policygen.report import show as forms

    request = RenderRequest(**fields(RenderRequest, given))
    with refusals(quiet=True, every=False):
        made = explain_name.compiled(request, stdin=stdin(request.specs))
    drawn = {"mermaid": mermaid.write, "svg": svg.write, "json": forms.json}
    write = drawn.get(given["form"]) or for_people(forms.write, given["form"])
    stdout.out(delivery.page(write, overview.overview(made.decisions, made.findings)))
