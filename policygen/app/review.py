"""What `policygen diff` does with two specs: what a change does, before anyone applies it."""

from collections.abc import Sequence

from msgspec import Struct

from policygen.app import compile as compiling
from policygen.app import drift
from policygen.app.requests import RenderRequest, Targets
from policygen.core.errors import SpecError
from policygen.core.finding import Finding
from policygen.core.rule import Severity
from policygen.documents.parse import mapping
from policygen.drift.drift import Rendered
from policygen.plan.decisions import Decisions
from policygen.review.consequences import consequences
from policygen.review.objects import object_changes
from policygen.review.review import Review


class _Side(Struct, frozen=True):
    decisions: Decisions
    rendered: Rendered
    findings: Sequence[Finding]


def review(old: str, new: str, target: Targets) -> Review:
    """Compare two specs: paths, or `git:REVISION:PATH`. Raises SpecError and UsageError."""
    was, now = (_side(path, target) for path in (old, new))
    messages = [{(it.rule.name, it.message): it for it in side.findings} for side in (was, now)]
    return Review(
        (old, new),
        consequences(was.decisions, now.decisions),
        tuple(object_changes(was.rendered.expected, now.rendered.expected, mapping)),
        tuple(it for key, it in messages[1].items() if key not in messages[0]),
        tuple(it for key, it in messages[0].items() if key not in messages[1]),
    )


def _side(path: str, target: Targets) -> _Side:
    request = RenderRequest(specs=(path,), target=target)
    compiled = compiling.compiled(request)
    if not compiled.loaded.own:
        raise SpecError(compiling.no_spec((path,), compiled.loaded))
    warnings = [it for it in compiled.findings if it.severity > Severity.INFO]
    return _Side(compiled.decisions, drift.rendered(compiled, request), warnings)
