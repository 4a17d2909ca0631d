"""Compiles spec files to a plan, with the findings of both, for all commands."""

import os
from collections.abc import Sequence
from typing import BinaryIO

from msgspec import Struct

from policygen.app.requests import LintRequest, RenderRequest
from policygen.core.errors import SpecError, UsageError
from policygen.core.finding import At, Finding, Place
from policygen.core.quoting import counted
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.documents import files
from policygen.documents.files import Source
from policygen.documents.locate import locate, ordered
from policygen.lint.run_rules import NOTHING_TO_CHECK
from policygen.plan.compile import Plan, compile_plan
from policygen.plan.decisions import Decisions
from policygen.plan.rules import INERT_OPTION
from policygen.spec.load import Loaded, load
from policygen.spec.rules import FOREIGN_DOCUMENTS


class Compiled(Struct, frozen=True):
    """A valid spec and its plan."""

    loaded: Loaded
    plan: Plan
    findings: tuple[Finding, ...]
    """The findings, without errors."""

    @property
    def decisions(self) -> Decisions:
        """The spec, and what the plan decided about it."""
        plan = self.plan
        return Decisions(self.loaded.spec, plan.pools, plan.trees, plan.workloads)


def compiled(
    request: RenderRequest | LintRequest,
    *,
    stdin: BinaryIO | None = None,
    output: os.stat_result | None = None,
    among: Sequence[Source] = (),
) -> Compiled:
    """Read, check and plan. Raises UsageError, and SpecError with all findings of an invalid spec.

    `among` are sources with spec documents among manifests. Files that the request names as specs
    too are read only once.
    """
    sources, unreadable = files.read(request.specs, stdin=stdin, output=output)
    known = {it.path or it.name for it in sources if it.name != files.STDIN}
    others = [it for it in among if (it.path or it.name) not in known]
    loaded = load(
        sources,
        request.target,
        complete=not unreadable,
        among=others,
        cluster=request.cluster,
    )
    _check_cluster(loaded, request.cluster)
    # Sums are checked for the valid part, even if another part of the spec is invalid.
    plan = compile_plan(loaded.sound, request.extras)
    found = ordered([*unreadable, *_reported(loaded, plan), *_unknown_rules(loaded)])
    if any(it.severity == Severity.ERROR for it in found):
        # What an option renders is known only of a valid spec.
        known_now = [it for it in found if it.rule is not INERT_OPTION]
        raise SpecError(known_now, unplanned=loaded.refused)
    return Compiled(loaded, plan, tuple(found))


def findings_about(made: Compiled, about: At) -> list[Finding]:
    """The findings about a document of the spec, alone or with others."""
    header = next(it.header for it in made.loaded.documents if it.index == about.document)
    others = {
        hit.message
        for hit in made.plan.hits
        if any(at.document == about.document for at in hit.related)
    }
    return [it for it in made.findings if it.object == str(header) or it.message in others]


class NoClustersError(UsageError):
    """A cluster was named, but the spec has none."""


def _check_cluster(loaded: Loaded, name: str | None) -> None:
    names = [it.name for it in loaded.spec.platform.clusters]
    if name is None or name in names or loaded.refused:
        return
    if not names:
        raise NoClustersError(
            f"--cluster {name}: the Platform has no clusters; omit --cluster, or write spec.clusters"
        )
    raise UsageError(f'--cluster: cluster "{name}" does not exist; {suggest(name, names)}')


def compiled_text(text: str, name: str, extras: frozenset[str] = frozenset()) -> Compiled:
    """Check and plan the text of a complete spec. Raises SpecError with its errors.

    `name` is that of the text in errors.
    """
    loaded = load([Source(name, text, None)])
    plan = compile_plan(loaded.sound, extras)
    found = ordered([*loaded.findings, *locate(loaded.documents, plan.hits)])
    errors = [it for it in found if it.severity == Severity.ERROR]
    if errors:
        raise SpecError(errors, unplanned=loaded.refused)
    return Compiled(loaded, plan, tuple(found))


def no_spec(specs: Sequence[str], loaded: Loaded) -> list[Finding]:
    """Findings about files and folders for a spec that contain no spec document."""
    found = []
    for path in specs:
        message = "this input contains no spec document, so nothing was checked"
        if loaded.foreign:
            message = (
                f"{message}; if the input contains manifests, run `policygen lint --manifests "
                f"{path}`"
            )
        name = files.STDIN if path == "-" else path
        found.append(Finding(NOTHING_TO_CHECK, message, Place(name)))
    return found


def _unknown_rules(loaded: Loaded) -> list[Finding]:
    """Findings about unknown rules in the spec's `lint`."""
    given = [
        settings
        for settings in loaded.lints
        if settings.severities or settings.waivers or settings.bounds or settings.annotations
    ]
    if not given:
        return []  # so that rules are not imported
    from policygen.lint import registry, waivers

    bounded = [rule.name for rule in registry.RULES if rule.bound]
    known = registry.names()
    hits = [hit for each in given for hit in waivers.misspelt(each, known, bounded)]
    return locate(loaded.documents, hits)


def _reported(loaded: Loaded, plan: Plan) -> list[Finding]:
    """All findings about a spec and its plan."""
    hits = [hit for hit in plan.hits if hit.rule.severity == Severity.ERROR or not loaded.refused]
    found = [*loaded.findings, *locate(loaded.documents, hits)]
    if loaded.foreign:
        message = f"policygen skipped {counted(loaded.foreign, 'document')} of other API groups"
        found.append(Finding(FOREIGN_DOCUMENTS, message))
    return found
