"""The command rules."""

import io
from collections.abc import Iterable
from typing import Any

import click

from policygen.app import stdout
from policygen.cli.options import TARGET, beginning, for_people, form, say_renamed
from policygen.cli.stderr import say
from policygen.core.errors import UsageError
from policygen.core.rule import Family, Severity

FAMILIES = tuple(family.word for family in Family)


def _kinds() -> Iterable[str]:
    from policygen.app import explain as app_explain

    return app_explain.kinds()


def _known_families(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    # JSON has the complete name of a family, text its first word.
    words = {name: family.word for family in Family for name in (family.word, family.value)}
    for value in values:
        if value not in words:
            raise click.BadParameter(
                f"{value!r} is not a known family; write one of {', '.join(FAMILIES)}"
            )
    return tuple(words[value] for value in values)


@click.command(
    epilog="""\b
Examples:
  policygen rules
  policygen rules --family invalid --kind ClusterQueue
  policygen rules --severity error --target kueue=0.17 borrow
  policygen rules -f json > rules.json

Exit codes: 0 listed, 2 wrong usage or no such rule, 4 internal error.
"""
)
@click.argument("words", nargs=-1, metavar="[TEXT]...")
@click.option(
    "--family",
    "families",
    multiple=True,
    callback=_known_families,
    shell_complete=beginning(lambda: FAMILIES),
    metavar="FAMILY",
    help="List only rules of this family; repeatable. The families are "
    + "; ".join(f"{family.word} ({family.about})" for family in Family)
    + ".",
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
    shell_complete=beginning(_kinds),
    help="List only rules that check this kind of object; repeatable.",
)
@TARGET
@form()
def rules(**given: Any) -> None:
    """List all rules: name, severity, family, fix, proof, and the fault in one sentence.

    With TEXT, list only rules whose name, fault or kinds contain all words of TEXT. A former name
    of a rule also works. If no rule contains a word, the command fails. The column fix shows whether
    `lint --fix` can fix the fault. Proven means that a test shows the harm on real servers.
    """
    from policygen.app import explain as app_explain
    from policygen.lint import registry

    form = given.pop("form")
    words = " ".join(given["words"]).split()  # "gpu quota" in quotes is also two words
    say_renamed(words)
    given["words"] = tuple(map(registry.current_name, words))
    if advice := app_explain.unknown_word(given["words"]):
        raise UsageError(advice)
    found = app_explain.select(app_explain.RuleQuery(**given))
    out = io.StringIO()
    people = app_explain.lines if form == "text" else app_explain.table
    write = app_explain.write if form == "json" else for_people(people, form)
    write(found, out)
    stdout.out(out.getvalue())
    if not found and form != "json":
        say("policygen: no rule matches; `policygen rules` lists all rules")
