"""The commands about rules: lint, rules, explain."""

import os
import sys
from typing import Any

import click

from policygen.errors import ExitCode
from policygen.finding import Severity

LINT_CODES = (
    "Exit codes: 0 clean, 1 findings at or above --fail-on, 2 usage or a spec that is refused, "
    "3 something could not be read, 4 internal."
)


def _rule_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Names of rules for completion."""
    from policygen import linting

    return [name for name in linting.rule_names() if name.startswith(incomplete)]


@click.command(
    epilog="""\b
Examples:
  policygen lint spec/
  policygen lint --manifests manifests/ spec/
  kustomize build overlays/prod | policygen lint --manifests - --partial
  policygen lint --manifests queues.yaml --rule local-queue-without-cluster-queue

"""
    + LINT_CODES
)
@click.argument("specs", nargs=-1, metavar="[SPEC]...")
@click.option(
    "--manifests",
    multiple=True,
    metavar="PATH",
    help="Judge the objects in this file, folder or - (standard input), anybody's; repeatable.",
)
@click.option(
    "--partial",
    is_flag=True,
    help="The manifests are not all: what is missing among them may be elsewhere.",
)
@click.option(
    "--rule",
    "only",
    multiple=True,
    metavar="RULE",
    shell_complete=_rule_names,
    help="Run this rule only; repeatable.",
)
@click.option(
    "--skip",
    multiple=True,
    metavar="RULE",
    shell_complete=_rule_names,
    help="Leave this rule out; repeatable.",
)
@click.option(
    "--fail-on",
    type=click.Choice(tuple(str(severity) for severity in reversed(Severity))),
    default="error",
    show_default=True,
    help="Exit 1 on findings of this severity or above.",
)
def lint(specs: tuple[str, ...], **options: Any) -> None:
    """Find what Kubernetes accepts and what does nothing, or harm."""
    from policygen import linting
    from policygen.lint.engine import Verdict
    from policygen.report import text

    if not specs and not options["manifests"]:
        raise click.UsageError("nothing to lint: name a SPEC, or --manifests PATH")
    given = (*specs, *options["manifests"])
    settings = linting.Settings(
        specs=specs,
        manifests=options["manifests"],
        target=options["target"],
        partial=options["partial"],
        only=options["only"],
        skip=options["skip"],
    )
    report = linting.lint(settings, stdin=sys.stdin.buffer if "-" in given else None)
    text.report(report, sys.stdout, colour=text.colours(sys.stdout, os.environ))
    code = {
        Verdict.CRASHED: ExitCode.INTERNAL,
        Verdict.NOT_EVALUATED: ExitCode.INCOMPLETE,
        Verdict.FAIL: ExitCode.FINDINGS,
        Verdict.PASS: ExitCode.CLEAN,
    }[linting.worst(report, Severity[options["fail_on"].upper()])]
    raise SystemExit(code)


@click.command(
    epilog="""\b
Examples:
  policygen rules
  policygen rules | grep ClusterQueue
"""
)
def rules() -> None:
    """List every rule that judges objects."""
    from policygen import linting

    table = linting.rules_table()
    width = max(len(rule.name) for rule, _ in table)
    for rule, about in table:
        click.echo(f"{rule.name:{width}}  {rule.severity!s:8} {about}")


@click.command(
    epilog="""\b
Examples:
  policygen explain local-queue-without-cluster-queue
"""
)
@click.argument("rule", shell_complete=_rule_names)
def explain(rule: str) -> None:
    """Show the page of a RULE: why it matters, a bad and a good example."""
    from policygen import linting

    click.echo(linting.explain(rule), nl=False)
