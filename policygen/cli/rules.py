"""The commands about rules: rules, explain."""

import io
from typing import Any

import click

from policygen.app import stdout
from policygen.cli.options import TARGET, form
from policygen.cli.stderr import say
from policygen.core.errors import UsageError
from policygen.core.finding import Severity


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Names of findings for completion."""
    from policygen.app import explain as app_explain

    return [name for name in app_explain.names() if name.startswith(incomplete)]


def _kinds(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Kinds that rules judge for completion."""
    from policygen.app import explain as app_explain

    start = incomplete.lower()
    return [kind for kind in app_explain.kinds() if kind.lower().startswith(start)]


def _families(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """First words of families for completion."""
    from policygen.app import explain as app_explain

    return [word for word in app_explain.FAMILIES if word.startswith(incomplete)]


def _known_families(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    from policygen.app import explain as app_explain

    for value in values:
        if value not in app_explain.FAMILIES:
            raise click.BadParameter(f"{value!r}: use one of {', '.join(app_explain.FAMILIES)}")
    return values


@click.command(
    epilog="""\b
Examples:
  policygen rules
  policygen rules --family invalid --kind ClusterQueue
  policygen rules --severity error --target kueue=0.17 borrow
  policygen rules -f json > rules.json
"""
)
@click.argument("words", nargs=-1, metavar="[TEXT]...")
@click.option(
    "--family",
    "families",
    multiple=True,
    callback=_known_families,
    shell_complete=_families,
    metavar="FAMILY",
    help="invalid (refused by a server), inert (accepted, and does nothing or harms), drift (of a "
    "cluster from the spec), refused (a spec with it is), spec (said of a spec) or run (said of a run); repeatable.",
)
@click.option(
    "--severity",
    "severities",
    multiple=True,
    type=click.Choice([str(severity) for severity in reversed(Severity)]),
    help="Of this severity; repeatable.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    shell_complete=_kinds,
    help="Rules that can speak of this kind of object; repeatable.",
)
@TARGET
@form("A line for each, or JSON.")
def rules(**given: Any) -> None:
    """List what policygen can find: name, severity, family, fix, proof, and the fault in a sentence.

    With TEXT only what has each of these words in its name, its fault or its kinds; a word that none
    has is refused. The fix is what
    `lint --fix` may do; proven means that a test shows the harm on real servers.
    """
    from policygen.app import explain as app_explain

    as_json = given.pop("form") == "json"
    if advice := app_explain.lost(given["words"]):
        raise UsageError(advice)
    found = app_explain.select(app_explain.Wanted(**given))
    if as_json:
        out = io.StringIO()
        app_explain.write(found, out)
        stdout.out(out.getvalue())
        return
    stdout.out(app_explain.table(found))
    if not found:
        say("policygen: no rule is like this; `policygen rules` lists all")


@click.command(
    epilog="""\b
Examples:
  policygen explain local-queue-without-cluster-queue
  policygen explain limit-above-parent
"""
)
@click.argument("rule", shell_complete=_names)
def explain(rule: str) -> None:
    """Show what a finding of this RULE means; of a rule of lint its page with examples."""
    from policygen.app import explain as app_explain

    stdout.out(app_explain.explain(rule))
