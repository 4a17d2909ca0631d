"""The commands about rules: rules, explain."""

import io
from typing import Any

import click

from policygen.app import stdout
from policygen.cli.options import TARGET, form, say_renamed
from policygen.cli.stderr import say
from policygen.core.errors import UsageError
from policygen.core.rule import Family, Severity


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Names of findings for completion."""
    from policygen.app import explain as app_explain

    return [name for name in app_explain.names() if name.startswith(incomplete)]


def _kinds(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Kinds that rules check, for completion."""
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
    help="; ".join(f"{family.word} ({family.about})" for family in Family) + "; repeatable.",
)
@click.option(
    "--severity",
    "severities",
    multiple=True,
    type=click.Choice([str(severity) for severity in reversed(Severity)]),
    help="List only rules of this severity; repeatable.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    shell_complete=_kinds,
    help="List only rules that check this kind of object; repeatable.",
)
@TARGET
@form("Output format: text is one line per rule.")
def rules(**given: Any) -> None:
    """List all rules: name, severity, family, fix, proof, and the fault in one sentence.

    With TEXT, list only rules that have all these words in their name, sentence or kinds. A word
    that no rule contains is an error. The fix is what `lint --fix` can do. Proven means that a test
    shows the harm on real servers.
    """
    from policygen.app import explain as app_explain

    as_json = given.pop("form") == "json"
    if advice := app_explain.lost(given["words"]):
        raise UsageError(advice)
    found = app_explain.select(app_explain.RuleQuery(**given))
    if as_json:
        out = io.StringIO()
        app_explain.write(found, out)
        stdout.out(out.getvalue())
        return
    stdout.out(app_explain.table(found))
    if not found:
        say("policygen: no rule matches; `policygen rules` lists all rules")


@click.command(
    epilog="""\b
Examples:
  policygen explain local-queue-without-cluster-queue
  policygen explain limit-above-parent --full
"""
)
@click.argument("rule", shell_complete=_names)
@click.option("--full", is_flag=True, help="Print the whole page with its complete examples.")
def explain(*, rule: str, full: bool) -> None:
    """Explain a RULE on one screen: why it matters, how to fix it, and an example."""
    from policygen.app import explain as app_explain

    say_renamed([rule])
    stdout.out(app_explain.explain(rule, full=full))
