"""A report in several formats, to files and standard output."""

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from policygen.errors import UsageError
from policygen.finding import Verdict
from policygen.report import text
from policygen.report.catalog import FORMATS
from policygen.report.report import Report


def write(report: Report, wanted: Sequence[tuple[str, Path | None]]) -> None:
    """Write each format to its file, then the one for standard output (None).

    All are made before anything is written. Raises UsageError for a file that cannot be written.
    """
    made = []
    for name, file in sorted(wanted, key=lambda each: each[1] is None):
        if file is None and sys.stdout is None:
            raise UsageError("standard output is closed; write -f FORMAT=FILE")
        page = io.StringIO()
        if name == "text" and file is None:
            text.full(report, page, colour=text.colours(sys.stdout, os.environ))
        else:
            FORMATS[name](report, page)
        made.append((file, page.getvalue().encode("utf-8", "backslashreplace")))
    for each in report.rules:
        if each.verdict == Verdict.CRASHED and sys.stderr is not None:
            sys.stderr.write(f"policygen: rule {each.rule} has a bug; please report it\n")
    if not report.complete and sys.stderr is not None:
        sys.stderr.write("policygen: not all could be read, so findings may be missing\n")
    for file, data in made:
        if file is None:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            continue
        try:
            file.write_bytes(data)
        except OSError as error:
            raise UsageError(f"{file} cannot be written: {error.strerror}") from None
