"""Explains names of a spec: teams, models and pools."""

from collections.abc import Callable, Mapping
from typing import BinaryIO

from policygen.app import compile as compiling
from policygen.app.compile import Compiled
from policygen.app.explain_object import origin
from policygen.app.requests import RenderRequest
from policygen.core.errors import SpecError, UsageError
from policygen.core.finding import At
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.explain import named
from policygen.explain.answer import Origin
from policygen.explain.named import NameAnswer, Section
from policygen.plan.decisions import Decisions

_OF: Mapping[str, Callable[[Decisions, str], NameAnswer]] = {
    "team": named.team,
    "model": named.model,
    "pool": named.pool,
}

KINDS = tuple(_OF)
"""What can be explained by its name."""


def compiled(request: RenderRequest, *, stdin: BinaryIO | None = None) -> Compiled:
    """Compile a spec. Raises SpecError and UsageError."""
    made = compiling.compiled(request, stdin=stdin)
    if not made.loaded.own:
        raise SpecError(compiling.no_spec(request.specs, made.loaded))
    return made


def names(made: Compiled, kind: str) -> list[str]:
    """The names of a kind in a spec."""
    return [it.name for it in getattr(made.loaded.spec, f"{kind}s")]


def explain(made: Compiled, kind: str, name: str) -> tuple[NameAnswer, Mapping[At, Origin]]:
    """The answer about a name, and its places. Raises UsageError for an unknown name."""
    known = names(made, kind)
    if name not in known:
        raise UsageError(f'the spec has no {kind} "{name}"; {suggest(name, known, kind)}')
    answer = _OF[kind](made.decisions, name)
    warnings = _warnings(made, answer.at)
    if warnings:
        sections = (*answer.sections, Section("Warnings", warnings))
        answer = NameAnswer(answer.title, answer.at, sections)
    return answer, {at: origin(made, at) for at in answer.places}


def _warnings(made: Compiled, about: At) -> tuple[str, ...]:
    """The warnings about a document of the spec, alone or with others."""
    found = compiling.findings_about(made, about)
    return tuple(it.message for it in found if it.severity > Severity.INFO)
