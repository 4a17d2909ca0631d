"""The commands that keep a file of known findings: baseline."""

from typing import Any

import click

from policygen.app import stdout
from policygen.cli.lint_inputs import INPUTS, baseline_file, request_of
from policygen.cli.options import today
from policygen.cli.stderr import progress


@click.group()
def baseline() -> None:
    """Keep a file of known findings, so that lint reports only new ones."""


@baseline.command(
    epilog="""\b
Examples:
  policygen baseline update --baseline lint.json --manifests manifests/ spec/

Exit codes: 0 written, 2 wrong usage or invalid spec, 3 something could not be read, 4 internal error.
"""
)
@INPUTS
@baseline_file("Write the current findings to this file; required.")
def update(**given: Any) -> None:
    """Write the current findings to the baseline, and show what changed in the baseline."""
    from policygen.app import lint as app_lint

    request, source = request_of(given)
    stdout.out(app_lint.update_baseline(request, today=today(), stdin=source, progress=progress))
