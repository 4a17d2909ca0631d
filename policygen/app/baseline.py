"""What `policygen baseline update` does."""

from datetime import date
from typing import TYPE_CHECKING, BinaryIO

from policygen.app import baseline_file
from policygen.app.lint import lint
from policygen.app.requests import LintRequest
from policygen.core.errors import UsageError
from policygen.lint import baseline
from policygen.lint.baseline import Baseline

if TYPE_CHECKING:  # imported only if a cluster is read
    from policygen.client.live import Progress


def update(
    request: LintRequest,
    *,
    today: date,
    stdin: BinaryIO | None = None,
    progress: "Progress" = lambda _: None,
) -> str:
    """Write the current findings to the baseline. Returns what changed in it.

    Raises UsageError if no file is given, and what `lint` raises.
    """
    path = request.baseline
    if path is None:
        raise UsageError("baseline update needs a file; write --baseline FILE")
    before = baseline_file.read(path) if path.exists() else Baseline(baseline.VERSION, ())
    report = lint(request._replace(baseline=None), today=today, stdin=stdin, progress=progress)
    return baseline_file.write(path, before, report)
