"""What `policygen lint` does, from inputs to a report."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.app import baseline_file, judge, verdicts
from policygen.app.judge import Against, CheckResult, Declared
from policygen.app.requests import LintRequest, RenderRequest
from policygen.core import versions
from policygen.core.finding import Finding
from policygen.core.rule import Family
from policygen.core.versions import Version
from policygen.documents import files
from policygen.documents.document import Document
from policygen.documents.files import Source
from policygen.documents.locate import locate, ordered
from policygen.drift import rule_names
from policygen.kubernetes import manifests
from policygen.lint import selection, waiver_annotations, waivers
from policygen.lint.selection import Selection
from policygen.lint.skew import skew
from policygen.lint.waiver_annotations import Annotated
from policygen.report.report import Report
from policygen.spec import programs
from policygen.spec.rules import FOREIGN_DOCUMENTS

if TYPE_CHECKING:  # what reads specs and clusters is imported only if the request names some
    from policygen.app.compile import Compiled
    from policygen.app.connect import Asked
    from policygen.client.live import ClusterQuery, Progress
    from policygen.drift.drift import Rendered


class RunSpec(Struct, frozen=True):
    """The spec of a run, or findings about files without a spec."""

    compiled: "Compiled | None" = None
    findings: tuple[Finding, ...] = ()
    hollow: bool = False
    """Whether the named files contain no spec."""

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents of the spec."""
        return self.compiled.loaded.documents if self.compiled else ()

    @property
    def settings(self) -> programs.LintSettings:
        """Severities, waivers and bounds of the spec."""
        return self.compiled.loaded.spec.platform.lint if self.compiled else programs.LintSettings()


class Run(Struct, frozen=True):
    """Values that all steps of a run need; each is computed once."""

    request: LintRequest
    selected: Selection
    spec: RunSpec


class Clusters(Struct):
    """The results for the clusters of a run."""

    judged: list[CheckResult]
    unreadable: list[Finding]
    annotated: list[Annotated]
    compared: list[str]
    """The contexts of clusters that were compared with all that the spec renders."""
    versions: dict[str, Mapping[str, Version]]
    """The detected versions, by context and component."""


def lint(  # noqa: PLR0913 - the request, and the outside world that it is answered from
    request: LintRequest,
    *,
    today: date,
    stdin: BinaryIO | None = None,
    asked: "Asked | None" = None,
    progress: "Progress" = lambda _: None,
    texts: Sequence[Source] | None = None,
) -> Report:
    """Check a spec, manifests and clusters. Raises SpecError for a refused spec, and UsageError.

    `asked` is the only cluster, if it was reached already; `texts` replace what the paths of the
    manifests hold.
    """
    known = baseline_file.read(request.baseline) if request.baseline else None
    selected = selection.select(request.only, request.skip)
    sources, unreadable = files.read(request.manifests, stdin=stdin)
    sources = sources if texts is None else list(texts)
    spec = compiled_spec(request, manifests.spec_sources(sources), stdin)
    run = Run(request, selected, spec)
    found = manifests.read(sources, first_index=len(spec.documents))
    against = _against(run)
    declared = Declared(request.manifests, sources, found, unreadable, partial=request.partial)
    parts = [judge.judge_manifests(declared, selected.rules, against)] if request.manifests else []
    first_index = len(spec.documents) + len(found.documents)
    clusters = _clusters(run, against, first_index, asked, progress)
    report = _report(run, found.documents, [*parts, *clusters.judged], clusters)
    report = _waived(report, run, clusters.annotated, today)
    if known is None or request.baseline is None:
        return report
    return baseline_file.compared(report, request.baseline, known, verdicts.evaluated(report.rules))


def refused(request: LintRequest, findings: Sequence[Finding]) -> Report:
    """The report on a refused spec: why it is refused, and that no rule has run."""
    rules = selection.select(request.only, request.skip).rules
    ended = verdicts.unjudged(rules, "the spec was refused")
    return Report(findings=tuple(findings), rules=ended, complete=False)


def reading(request: LintRequest) -> "ClusterQuery":
    """The kinds that the rules and the rendered spec need from a cluster. Raises SpecError, UsageError."""
    from policygen.app import sources

    selected = selection.select(request.only, request.skip)
    run = Run(request, selected, compiled_spec(request))
    return sources.wanted(
        selected.rules, _comparable(run), _target(run), request.clusters.namespaces
    )


def compiled_spec(
    request: LintRequest, inside: Sequence[Source] = (), stdin: BinaryIO | None = None
) -> RunSpec:
    """The spec of its own files and of documents among the manifests. Raises SpecError."""
    if not request.specs and not inside:
        return RunSpec()
    from policygen.app.compile import compiled, no_spec

    made = compiled(request.specs, request.target, request.extras, stdin=stdin, among=inside)
    if made.loaded.own:
        return RunSpec(made, made.findings)
    others = [it for it in made.findings if it.rule is not FOREIGN_DOCUMENTS]
    hollow = no_spec(request.specs, made.loaded)
    return RunSpec(findings=(*others, *hollow), hollow=bool(hollow))


def _target(run: Run) -> dict[str, Version]:
    """The versions for which objects are checked, from the spec or the command line."""
    if run.spec.compiled:
        target = run.spec.compiled.loaded.spec.platform.target
        return {name: getattr(target, name) for name in versions.DEFAULT}
    return {**versions.DEFAULT, **run.request.target}


def _against(run: Run) -> Against:
    """The settings with which objects are checked."""
    target, compiled = _target(run), run.spec.compiled
    return Against(
        target,
        asked=target if compiled else run.request.target,
        spec=compiled.loaded.spec if compiled else None,
        plan=compiled.plan if compiled else None,
        documents=run.spec.documents,
        kubeconfig=str(run.request.clusters.kubeconfig or ""),
    )


def _clusters(
    run: Run, against: Against, first_index: int, asked: "Asked | None", progress: "Progress"
) -> Clusters:
    """Each cluster: read, then checked before the next one is read."""
    request, rules = run.request, run.selected.rules
    result = Clusters([], [], [], [], {})
    rendered, index = None, first_index
    if not request.clusters.named:
        if request.extras or request.templates:  # a fault in them is always reported
            _rendered(run)
        return result
    from policygen.app import sources

    wanted = sources.wanted(rules, _comparable(run), against.target, request.clusters.namespaces)
    for cluster in sources.clusters(request.clusters, wanted, asked, progress):
        with cluster.begin(index) as listing:
            # Rendered while the first lists arrive.
            rendered = rendered or _rendered(run)
            snapshot = listing.finish()
        if isinstance(snapshot, Finding):
            result.unreadable.append(snapshot)
            continue
        result.annotated += waiver_annotations.annotated(snapshot)
        judged = judge.judge(snapshot, rules, replace(against, rendered=rendered), index)
        result.judged.append(judged)
        context = snapshot.seen.context
        result.compared += [context] if verdicts.compared(judged.outcomes) else []
        result.versions[context] = judged.runs
        index = judged.next_index
    return result


def _comparable(run: Run) -> "Compiled | None":
    """The spec if a selected rule compares a cluster with what it renders."""
    return None if run.selected.names.isdisjoint(rule_names.RULES) else run.spec.compiled


def _rendered(run: Run) -> "Rendered | None":
    """The rendered objects, if a selected rule compares clusters with them."""
    compiled = _comparable(run)
    if compiled is None:
        return None
    from policygen.app import drift

    request = run.request
    rendering = RenderRequest(
        request.specs, request.target, extras=request.extras, templates=request.templates
    )
    return drift.rendered(compiled, rendering)


def _report(
    run: Run, documents: Sequence[Document], parts: Sequence[CheckResult], clusters: Clusters
) -> Report:
    """All findings, before waivers."""
    lost = len(clusters.unreadable)
    ended = verdicts.merged([part.outcomes for part in parts], whole=lost == 0)
    complete = not (lost or run.spec.hollow) and all(part.complete for part in parts)
    findings = [
        it
        for it in run.spec.findings
        if it.rule.family is not Family.REPORTED or it.rule.name in run.selected.names
    ]
    findings += clusters.unreadable
    findings += (it for part in parts for it in part.findings)
    findings += skew(clusters.versions)
    ended = verdicts.with_findings(ended, findings)
    idle = verdicts.idle(ended) if run.request.only and complete else None
    findings += [idle] if idle else []
    return Report(
        findings=tuple(findings),
        rules=ended,
        objects=sum(part.objects for part in parts),
        complete=complete and not idle,
        documents=tuple(documents),
        drifts=tuple(it for part in parts for it in part.drifts),
        gaps=tuple(it for part in parts for it in part.gaps),
        compared=tuple(clusters.compared),
    )


def _waived(report: Report, run: Run, annotated: Sequence[Annotated], today: date) -> Report:
    """The report after the severities and waivers of the spec."""
    judged = waivers.judge(
        report.findings,
        run.spec.settings,
        today=today,
        evaluated=verdicts.evaluated(report.rules) & run.selected.names,
        annotated=annotated if run.spec.compiled else (),
    )
    about_waivers = locate(run.spec.documents, judged.hits)
    return replace(
        report,
        findings=tuple(ordered([*judged.shown, *about_waivers, *judged.of_annotations])),
        off=judged.off,
        waived=judged.waived,
    )
