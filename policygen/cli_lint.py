"""The commands about rules: lint, rules, explain."""

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from policygen.errors import ExitCode, UsageError
from policygen.finding import Severity

if TYPE_CHECKING:
    from policygen.report.report import Report

LINT_CODES = (
    "Exit codes: 0 clean, 1 findings at or above --fail-on, 2 usage or a spec that is refused, "
    "3 something could not be read, 4 internal."
)


def _formats(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Names of formats for completion."""
    from policygen.report.catalog import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


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
@click.option(
    "-f",
    "--format",
    "formats",
    multiple=True,
    default=("text",),
    shell_complete=_formats,
    metavar="FORMAT[=FILE]",
    help="text, json, sarif, junit, github, gitlab, markdown or html; to standard output, or "
    "into FILE; repeatable.",
)
def lint(specs: tuple[str, ...], **options: Any) -> None:
    """Find what Kubernetes accepts and what does nothing, or harm."""
    from policygen import linting
    from policygen.lint.engine import Verdict

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
    wanted = _wanted(options["formats"])
    report = linting.lint(settings, stdin=sys.stdin.buffer if "-" in given else None)
    _write(report, wanted)
    code = {
        Verdict.CRASHED: ExitCode.INTERNAL,
        Verdict.NOT_EVALUATED: ExitCode.INCOMPLETE,
        Verdict.FAIL: ExitCode.FINDINGS,
        Verdict.PASS: ExitCode.CLEAN,
    }[linting.worst(report, Severity[options["fail_on"].upper()])]
    raise SystemExit(code)


def _wanted(values: tuple[str, ...]) -> list[tuple[str, Path | None]]:
    """`sarif=out.sarif` to the format and its file; only one goes to standard output."""
    from policygen.report.catalog import FORMATS

    wanted = []
    for value in values:
        name, _, file = value.partition("=")
        if name not in FORMATS:
            raise click.BadParameter(f"{name!r}: use one of {', '.join(FORMATS)}", param_hint="-f")
        wanted.append((name, Path(file) if file else None))
    if sum(1 for _, file in wanted if file is None) > 1:
        raise click.BadParameter(
            "only one format can go to standard output; write -f FORMAT=FILE for the others",
            param_hint="-f",
        )
    return wanted


def _write(report: "Report", wanted: list[tuple[str, Path | None]]) -> None:
    """Each format to its file, then the one for standard output."""
    from policygen.report import text
    from policygen.report.catalog import FORMATS

    for name, file in sorted(wanted, key=lambda each: each[1] is None):
        page = io.StringIO()
        if name == "text" and file is None:
            text.full(report, sys.stdout, colour=text.colours(sys.stdout, os.environ))
            continue
        FORMATS[name](report, page)
        data = page.getvalue().encode("utf-8", "backslashreplace")
        if file is None:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            continue
        try:
            file.write_bytes(data)
        except OSError as error:
            raise UsageError(f"{file} cannot be written: {error.strerror}") from None


@click.command(
    epilog="""\b
Examples:
  policygen rules
  policygen rules | grep ClusterQueue
"""
)
def rules() -> None:
    """List every rule that judges objects."""
    from policygen.lint.catalog import RULES

    width = max(len(rule.name) for rule in RULES)
    for rule in RULES:
        click.echo(f"{rule.name:{width}}  {rule.severity!s:8} {rule.about}")


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
