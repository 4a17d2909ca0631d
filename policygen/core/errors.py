"""The exceptions that reach a user, and the exit codes.

PolicygenError
├── UsageError     what was asked for cannot be done: options, output folder, templates
├── UnreadError    what was asked for could not be read: a snapshot, a cluster
├── SpecError      the input is unreadable or refused; carries every finding
└── CheckFailed    `render --check`: the files differ from what would be rendered
"""

from collections.abc import Sequence
from enum import IntEnum

from policygen.core.finding import Finding


class ExitCode(IntEnum):
    """What the process says to its caller."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    """Usage, or a spec that is unreadable or refused."""
    INCOMPLETE = 3
    INTERNAL = 4


class PolicygenError(Exception):
    """Base of all that is reported without a traceback."""

    exit_code: ExitCode = ExitCode.USAGE


class UsageError(PolicygenError):
    """What was asked for cannot be done; the message says what to do instead."""


class UnreadError(PolicygenError):
    """What was asked for could not be read, so that nothing is known of it."""

    exit_code = ExitCode.INCOMPLETE


class SpecError(PolicygenError):
    """The input was refused; `findings` holds every reason, errors and others."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__(f"{len(findings)} findings")
        self.findings = tuple(findings)


class CheckFailed(PolicygenError):  # noqa: N818 - not an error of anyone: an answer
    """The files on disk differ from the render; the message is a unified diff."""

    exit_code = ExitCode.FINDINGS
