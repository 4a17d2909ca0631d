"""Reads the inputs of a lint run, except clusters: rules, baseline, spec and manifests."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.app import baseline, manifest_files, verdicts
from policygen.app.judge import ManifestInput
from policygen.app.manifest_files import ManifestFiles
from policygen.app.requests import LintRequest, RenderRequest
from policygen.core import versions
from policygen.core.errors import SpecError
from policygen.core.finding import Finding
from policygen.core.versions import Version
from policygen.documents import read_ahead
from policygen.documents.document import Document
from policygen.documents.files import Source
from policygen.drift import rule_names
from policygen.kubernetes import manifests
from policygen.lint import selection
from policygen.lint.baseline import Baseline
from policygen.lint.selection import Selection
from policygen.report.report import RuleResult
from policygen.spec import programs
from policygen.spec.rules import FOREIGN_DOCUMENTS

if TYPE_CHECKING:  # only runs with a spec load the compiler
    from policygen.app.compile import Compiled
    from policygen.drift.drift import Rendered


class RunSpec(Struct, frozen=True):
    """The spec of a run, or findings about files without a spec."""

    compiled: "Compiled | None" = None
    findings: tuple[Finding, ...] = ()
    rendered: "Rendered | None" = None
    """The rendered objects, if manifests or clusters need them."""

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents of the spec."""
        return self.compiled.loaded.documents if self.compiled else ()

    def target(self, requested: Mapping[str, Version]) -> Mapping[str, Version]:
        """The versions of the spec, which was compiled for those of the command line, or else these."""
        if self.compiled is None:
            return {**versions.DEFAULT, **requested}
        target = self.compiled.loaded.spec.platform.target
        return {name: getattr(target, name) for name in versions.DEFAULT}

    @property
    def settings(self) -> programs.LintSettings:
        """Severities, waivers and bounds of the spec."""
        return self.compiled.loaded.spec.platform.lint if self.compiled else programs.LintSettings()


class Run(Struct, frozen=True):
    """Values that all steps of a run need; each is computed once."""

    request: LintRequest
    known: Baseline | None
    selected: Selection
    manifests: ManifestInput
    spec: RunSpec

    @property
    def target(self) -> Mapping[str, Version]:
        """The versions for which objects are checked, from the spec or the command line."""
        return self.spec.target(self.request.target)

    @property
    def comparable(self) -> "Compiled | None":
        """The spec if a selected rule compares a cluster with what it renders."""
        return None if self.selected.names.isdisjoint(rule_names.RULES) else self.spec.compiled

    @property
    def first_index(self) -> int:
        """The first index after those of the documents of spec and manifests."""
        return len(self.spec.documents) + len(self.manifests.found.documents)


class RefusedSpecError(SpecError):
    """The spec of a run is invalid, so no rule ran."""

    def __init__(self, error: SpecError, rules: tuple[RuleResult, ...]) -> None:
        super().__init__(error.findings, unplanned=error.unplanned)
        self.rules = rules


def prepare(
    request: LintRequest, stdin: BinaryIO | None = None, files: ManifestFiles | None = None
) -> Run:
    """Select the rules, and read and compile the inputs, except clusters.

    `files` are those of the manifests, if they were opened already. Raises RefusedSpecError, and
    UsageError.
    """
    known = baseline.read(request.baseline) if request.baseline else None
    selected = selection.select(request.only, request.skip)
    with ExitStack() as stack:
        files = files or stack.enter_context(manifest_files.opened(request.manifests, stdin))
        with _refusals(selected):
            spec = compiled_spec(request, manifests.spec_sources(files.sources), stdin)
        read = _read(request, spec, files)
    return _with_context(Run(request, known, selected, read, spec))


def with_manifests(
    run: Run,
    paths: tuple[str, ...],
    sources: Sequence[Source],
    unreadable: Sequence[Finding] = (),
    stdin: BinaryIO | None = None,
) -> Run:
    """The run with other manifests. Its spec is compiled again only if they change its documents."""
    spec, inside = run.spec, manifests.spec_sources(sources)
    if inside != manifests.spec_sources(run.manifests.sources):
        with _refusals(run.selected):
            spec = compiled_spec(run.request, inside, stdin)
    request = run.request._replace(manifests=paths)
    with read_ahead.begun(sources) as documents:
        read = _read(request, spec, ManifestFiles(sources, unreadable, documents))
    return _with_context(Run(request, run.known, run.selected, read, spec))


def _read(request: LintRequest, spec: RunSpec, files: ManifestFiles) -> ManifestInput:
    found = manifests.read(
        files.sources, first_index=len(spec.documents), read_ahead=files.documents
    )
    return ManifestInput(
        request.manifests, files.sources, found, files.unreadable, partial=request.partial
    )


def _with_context(run: Run) -> Run:
    return with_rendered(run) if run.manifests.found.objects else run


def with_rendered(run: Run) -> Run:
    """The run with what its spec renders. Raises RefusedSpecError, and UsageError."""
    compiled, request = run.spec.compiled, run.request
    if compiled is None or run.spec.rendered is not None:
        return run
    from policygen.app import drift

    rendering = RenderRequest(
        request.specs, request.target, extras=request.extras, templates=request.templates
    )
    with _refusals(run.selected):
        return replace(run, spec=replace(run.spec, rendered=drift.rendered(compiled, rendering)))


@contextmanager
def _refusals(selected: Selection) -> Iterator[None]:
    """Add to a SpecError that no selected rule ran."""
    try:
        yield
    except SpecError as error:
        rules = verdicts.unjudged(selected.rules, "the spec was refused")
        raise RefusedSpecError(error, rules) from None


def compiled_spec(
    request: LintRequest, inside: Sequence[Source] = (), stdin: BinaryIO | None = None
) -> RunSpec:
    """The spec of its own files and of documents among the manifests. Raises SpecError."""
    if not request.specs and not inside:
        return RunSpec()
    from policygen.app.compile import compiled, no_spec
    from policygen.plan.rules import INERT_OPTION

    made = compiled(request, stdin=stdin, among=inside)
    if made.loaded.own:
        return RunSpec(made, made.findings)
    others = [it for it in made.findings if it.rule not in (FOREIGN_DOCUMENTS, INERT_OPTION)]
    return RunSpec(findings=(*others, *no_spec(request.specs, made.loaded)))
