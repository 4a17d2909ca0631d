"""The commands about rules: rules, explain."""

import io
from typing import Any

import click

from policygen import printing
from policygen.cli_options import TARGET, form
from policygen.cli_stderr import say
from policygen.errors import UsageError
from policygen.finding import Severity


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Names of findings for completion."""
    from policygen import rulebook

    return [name for name in rulebook.names() if name.startswith(incomplete)]


def _kinds(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Kinds that rules judge for completion."""
    from policygen import rulebook

    start = incomplete.lower()
    return [kind for kind in rulebook.kinds() if kind.lower().startswith(start)]


def _families(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """First words of families for completion."""
    from policygen import rulebook

    return [word for word in rulebook.FAMILIES if word.startswith(incomplete)]


def _known_families(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    from policygen import rulebook

    for value in values:
        if value not in rulebook.FAMILIES:
            raise click.BadParameter(f"{value!r}: use one of {', '.join(rulebook.FAMILIES)}")
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
    from policygen import rulebook

    as_json = given.pop("form") == "json"
    if advice := rulebook.lost(given["words"]):
        raise UsageError(advice)
    found = rulebook.select(rulebook.Wanted(**given))
    if as_json:
        out = io.StringIO()
        rulebook.write(found, out)
        printing.out(out.getvalue())
        return
    printing.out(rulebook.table(found))
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
    from policygen import rulebook

    printing.out(rulebook.explain(rule))
