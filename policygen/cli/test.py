"""The command that tests a team's settings and waivers: test."""

from collections.abc import Collection
from typing import Any

import click

from policygen.app import stdout
from policygen.cli.options import SPECS, TARGET, formats, forms, paths, today
from policygen.core.errors import ExitCode


def _formats() -> Collection[str]:
    from policygen.testing.shown import FORMS

    return FORMS


@click.command(
    epilog="""\b
Examples:
  policygen test docs/policy-tests
  policygen test policy-tests/ spec/
  policygen test policy-tests/ -f text -f junit=cases.xml
  policygen test policy-tests/waived/ spec/ --update

Exit codes: 0 all as expected, 1 a case is not, 2 usage, a spec that is refused or cases that cannot
be read, 4 internal.
"""
)
@click.argument("folder", metavar="DIR", shell_complete=paths)
@SPECS
@click.option(
    "--partial",
    is_flag=True,
    help="The manifests of a case are not all: what is missing may be elsewhere.",
)
@TARGET
@click.option(
    "--update", is_flag=True, help="Write what is found now into each findings.txt, and show it."
)
@formats(_formats, "text or junit")
def test(folder: str, *, update: bool, **given: Any) -> None:
    """Check that lint finds in small inputs what you expect, under your settings and waivers.

    Each folder at or below DIR with a findings.txt is a case: its manifests and spec documents
    are linted together with every SPEC, such as your Platform, and the specs that stand in DIR
    beside the cases. What is found in it is compared with findings.txt, line by line; an empty
    file expects nothing.
    """
    from policygen.app import delivery
    from policygen.app import test as app_test
    from policygen.testing import shown

    wanted = forms(given.pop("formats"), _formats())
    settings = app_test.Settings(folder, **given)
    if update:
        stdout.out(app_test.update(settings, today=today()))
        return
    outcomes = app_test.run(settings, today=today())
    delivery.send((file, delivery.page(shown.FORMS[name], outcomes)) for name, file in wanted)
    if any(each.crashed for each in outcomes):
        raise SystemExit(ExitCode.INTERNAL)
    raise SystemExit(ExitCode.FINDINGS if app_test.failed(outcomes) else ExitCode.CLEAN)
