"""The exceptions that reach a user, and the exit codes.

PolicygenError
├── UsageError     the request is not possible: options, output folder, templates
├── UnreadError    an input could not be read: a snapshot, a cluster
├── SpecError      the input is unreadable or invalid; has all findings
├── InvalidInputError  jobs or a trace are invalid; `details` has all faults with line and column
└── CheckFailed    `render --check`: the files differ from the rendered objects
"""

from collections.abc import Sequence
from enum import IntEnum

from policygen.core.finding import Finding


class ExitCode(IntEnum):
    """The exit code of the process."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    """Wrong usage, or an unreadable or invalid spec."""
    INCOMPLETE = 3
    INTERNAL = 4


class PolicygenError(Exception):
    """Base of all errors that are reported without a traceback."""

    exit_code: ExitCode = ExitCode.USAGE
    details: Sequence[str] = ()
    """Lines to print before the message."""


class UsageError(PolicygenError):
    """The request is not possible; the message contains what to do instead."""


class UnreadError(PolicygenError):
    """An input could not be read, so nothing is known about it."""

    exit_code = ExitCode.INCOMPLETE


class SpecError(PolicygenError):
    """The input is invalid; `findings` has all reasons, and the other findings.

    `unplanned`: parts of the spec are invalid, so checks that need a valid spec did not run.
    """

    def __init__(self, findings: Sequence[Finding], *, unplanned: bool = False) -> None:
        super().__init__(f"{len(findings)} findings")
        self.findings = tuple(findings)
        self.unplanned = unplanned


class InvalidInputError(PolicygenError):
    """Jobs or a trace are invalid; `details` has the faults with line and column."""

    def __init__(self, message: str, details: Sequence[str]) -> None:
        super().__init__(message)
        self.details = tuple(details)


class CheckFailed(PolicygenError):  # noqa: N818 - not an error, but a result
    """The files on disk differ from the render; the message is a unified diff."""

    exit_code = ExitCode.FINDINGS
