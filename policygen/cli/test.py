"""The command that tests the settings and waivers of a team: test."""

from typing import Any

import click

from policygen.app import stdout
from policygen.cli.options import SPECS, TARGET, formats, forms, paths, today
from policygen.core.errors import ExitCode

FORMATS = ("text", "json", "markdown", "junit")
"""Those of testing.outcome, which help does not import."""


@click.command(
    epilog="""\b
Examples:
  policygen test docs/policy-tests
  policygen test policy-tests/ spec/
  policygen test policy-tests/ -f text -f junit=cases.xml
  policygen test policy-tests/waived/ spec/ --update

Exit codes: 0 all cases pass, 1 a case fails, 2 wrong usage, invalid spec or unreadable cases,
4 internal error.
"""
)
@click.argument("folder", metavar="DIR", shell_complete=paths)
@SPECS
@click.option(
    "--partial",
    is_flag=True,
    help="The manifests of a case are incomplete: do not report objects that are missing from them.",
)
@TARGET
@click.option(
    "--update", is_flag=True, help="Write the current findings to each findings.txt, and show them."
)
@formats(FORMATS, "text, json, markdown or junit")
def test(folder: str, *, update: bool, **given: Any) -> None:
    """Test your settings and waivers: check that lint reports the expected findings.

    Each folder in DIR (or DIR itself) that contains a findings.txt is a case. lint checks the
    manifests and spec documents of the case. It adds every SPEC, for example your Platform, and all
    specs in DIR that belong to no case. The findings must equal findings.txt, line by line. If
    findings.txt is empty, lint must report no finding.
    """
    from policygen.app import delivery
    from policygen.app import test as app_test
    from policygen.testing import outcome

    outputs = forms(given.pop("formats"), FORMATS)
    settings = app_test.TestRequest(folder, **given)
    if update:
        stdout.out(app_test.update(settings, today=today()))
        return
    outcomes = app_test.run(settings, today=today())
    delivery.send((file, delivery.page(outcome.FORMS[name], outcomes)) for name, file in outputs)
    if any(it.crashed for it in outcomes):
        raise SystemExit(ExitCode.INTERNAL)
    raise SystemExit(ExitCode.FINDINGS if outcome.failed(outcomes) else ExitCode.CLEAN)
