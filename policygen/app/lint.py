"""What `policygen lint` and `policygen baseline update` do, from inputs to a report."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.app import baseline, judge, verdicts
from policygen.app.judge import CheckResult, CheckSettings, ClusterCheckResult, ManifestInput
from policygen.app.requests import LintRequest, RenderRequest
from policygen.core import versions
from policygen.core.errors import SpecError, UsageError
from policygen.core.finding import Finding
from policygen.core.rule import Family
from policygen.core.versions import Version
from policygen.documents import files
from policygen.documents.document import Document
from policygen.documents.files import Source
from policygen.documents.locate import locate, ordered
from policygen.documents.rules import NO_SPEC_FILES, UNREADABLE_INPUT
from policygen.drift import rule_names
from policygen.kubernetes import manifests
from policygen.kubernetes.snapshot import Snapshot
from policygen.lint import selection, waivers
from policygen.lint.baseline import Baseline
from policygen.lint.rule import Need, ObjectRule
from policygen.lint.run_rules import NOTHING_TO_CHECK
from policygen.lint.selection import Selection
from policygen.lint.skew import skew
from policygen.report.report import UNREAD, Report, RuleResult
from policygen.spec import programs
from policygen.spec.rules import FOREIGN_DOCUMENTS

if TYPE_CHECKING:  # what reads specs and clusters is imported only if the request names some
    from concurrent.futures import Future

    from policygen.app.compile import Compiled
    from policygen.client.live import ClusterQuery, Progress
    from policygen.client.requests import Server
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
        if self.spec.compiled:
            target = self.spec.compiled.loaded.spec.platform.target
            return {name: getattr(target, name) for name in versions.DEFAULT}
        return {**versions.DEFAULT, **self.request.target}

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


def lint(
    request: LintRequest,
    *,
    today: date,
    stdin: BinaryIO | None = None,
    connection: "Future[Server] | None" = None,
    progress: "Progress" = lambda _: None,
) -> Report:
    """Check a spec, manifests and clusters. Raises RefusedSpecError, and UsageError.

    `connection` is that to the only cluster, if it was reached already.
    """
    run = prepare(request, stdin)
    return report(run, clusters(run, connection, progress), today)


def refused(request: LintRequest, error: SpecError, findings: Sequence[Finding]) -> Report:
    """The report on a refused spec: why it is refused, and that no rule ran."""
    rules = error.rules if isinstance(error, RefusedSpecError) else ()
    why = UNREAD
    if not any(it.rule in {UNREADABLE_INPUT, NO_SPEC_FILES} for it in error.findings):
        inputs = {"manifest": request.manifests, "cluster": request.clusters.named}
        unchecked = " and ".join(f"no {name}" for name, given in inputs.items() if given)
        why = f"the spec is invalid, so {unchecked or 'nothing else'} was checked"
        if error.unplanned:
            why = f"{why}, and not all checks of the plan ran"
    return Report(findings=tuple(findings), rules=rules, incomplete=why)


def update_baseline(
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
    before = baseline.read(path) if path.exists() else None
    found = lint(request._replace(baseline=None), today=today, stdin=stdin, progress=progress)
    return baseline.write(path, before, found)


def prepare(request: LintRequest, stdin: BinaryIO | None = None) -> Run:
    """Select the rules, and read and compile the inputs, except clusters.

    Raises RefusedSpecError, and UsageError.
    """
    known = baseline.read(request.baseline) if request.baseline else None
    selected = selection.select(request.only, request.skip)
    sources, unreadable = files.read(request.manifests, stdin=stdin)
    with _refusals(selected):
        spec = compiled_spec(request, manifests.spec_sources(sources), stdin)
    read = _read(request, spec, sources, unreadable)
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
    read = _read(request, spec, sources, unreadable)
    return _with_context(Run(request, run.known, run.selected, read, spec))


def _read(
    request: LintRequest, spec: RunSpec, sources: Sequence[Source], unreadable: Sequence[Finding]
) -> ManifestInput:
    found = manifests.read(sources, first_index=len(spec.documents))
    return ManifestInput(request.manifests, sources, found, unreadable, partial=request.partial)


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

    made = compiled(request, stdin=stdin, among=inside)
    if made.loaded.own:
        return RunSpec(made, made.findings)
    others = [it for it in made.findings if it.rule is not FOREIGN_DOCUMENTS]
    return RunSpec(findings=(*others, *no_spec(request.specs, made.loaded)))


def cluster_query(run: Run) -> "ClusterQuery":
    """What the rules and the rendered spec need from a cluster."""
    from policygen.app import sources

    namespaces = run.request.clusters.namespaces
    return sources.cluster_query(run.selected.rules, run.comparable, run.target, namespaces)


def clusters(
    run: Run,
    connection: "Future[Server] | None" = None,
    progress: "Progress" = lambda _: None,
) -> list[ClusterCheckResult | Finding]:
    """For each cluster its result, or why it could not be read. Each is checked before the next is read."""
    request, index = run.request, run.first_index
    if not request.clusters.named:
        if request.extras or request.templates:  # a fault in them is always reported
            rendered(run)
        return []
    from policygen.app import sources

    results: list[ClusterCheckResult | Finding] = []
    expected = None
    for begin in sources.clusters(request.clusters, cluster_query(run), connection, progress):
        with begin(index) as finish:
            # Rendered while the first lists arrive.
            expected = expected or rendered(run)
            snapshot = finish()
        if isinstance(snapshot, Finding):
            results.append(snapshot)
            continue
        result = check_snapshot(run, snapshot, expected, index)
        results.append(result)
        index = result.next_index
    return results


def rendered(run: Run) -> "Rendered | None":
    """The rendered objects, if a selected rule compares clusters with them. Raises RefusedSpecError."""
    return with_rendered(run).spec.rendered if run.comparable else None


def check_snapshot(
    run: Run, snapshot: Snapshot, expected: "Rendered | None", index: int
) -> ClusterCheckResult:
    """The results of the rules on a cluster. `index` is the index of its document."""
    settings = replace(_settings(run), rendered=expected)
    return judge.judge(snapshot, run.selected.rules, settings, index)


def _settings(run: Run) -> CheckSettings:
    target, compiled = run.target, run.spec.compiled
    return CheckSettings(
        target,
        requested=target if compiled else run.request.target,
        spec=compiled.loaded.spec if compiled else None,
        plan=compiled.plan if compiled else None,
        documents=run.spec.documents,
        rendered=run.spec.rendered,
        kubeconfig=str(run.request.clusters.kubeconfig or ""),
    )


def report(run: Run, results: Sequence[ClusterCheckResult | Finding], today: date) -> Report:
    """The report on the manifests of a run, and on the results for its clusters."""
    unreadable = [it for it in results if isinstance(it, Finding)]
    read = [it for it in results if not isinstance(it, Finding)]
    parts: list[CheckResult] = [*read]
    if run.request.manifests:
        states = tuple(part.state for part in read if part.state)
        settings = replace(_settings(run), states=states)
        found = judge.judge_manifests(run.manifests, run.selected.rules, settings)
        parts.insert(0, found)
    rules = verdicts.merged([part.outcomes for part in parts], whole=not unreadable)
    findings = [
        *(
            finding
            for finding in run.spec.findings
            if finding.rule.family is not Family.REPORTED or finding.rule.name in run.selected.names
        ),
        *unreadable,
        *(it for part in parts for it in part.findings),
        *skew({part.context: part.versions for part in read}),
    ]
    rules = verdicts.with_findings(rules, findings)
    incomplete = ""
    if unreadable or not all(part.complete for part in parts):
        incomplete = UNREAD
    elif any(finding.rule is NOTHING_TO_CHECK for finding in findings):
        incomplete = "an input contains nothing to check"
    elif run.request.only and (idle := verdicts.idle(rules)):
        findings.append(idle)
        incomplete = "no selected rule has all the input that it needs"
    judged = waivers.apply(
        findings,
        run.spec.settings,
        today=today,
        evaluated=run.selected.names & verdicts.evaluated(rules) - verdicts.vacuous(rules),
        annotated=[it for part in read for it in part.annotated] if run.spec.compiled else (),
    )
    about_waivers = locate(run.spec.documents, judged.hits)
    made = Report(
        findings=tuple(ordered([*judged.shown, *about_waivers, *judged.of_annotations])),
        rules=rules,
        objects=sum(part.objects for part in parts),
        incomplete=incomplete,
        off=judged.off,
        waived=judged.waived,
        documents=tuple(run.manifests.found.documents),
        drifts=tuple(it for part in parts for it in part.drifts),
        gaps=tuple(it for part in parts for it in part.gaps),
        models=run.spec.compiled.plan.workloads.placements if run.spec.compiled else (),
        compared=tuple(part.context for part in read if part.compared),
    )
    if run.known is not None and run.request.baseline is not None:
        known, evaluated = run.known, verdicts.evaluated(rules)
        made = baseline.compared(made, run.request.baseline, known, evaluated)
    return replace(made, elsewhere=_elsewhere(run, made.findings))


def _elsewhere(run: Run, findings: Sequence[Finding]) -> int:
    """The number of findings in single files that depend on objects which other files may contain."""
    if run.spec.compiled or any(Path(path).is_dir() for path in run.request.manifests):
        return 0
    return sum(
        isinstance(it.rule, ObjectRule)
        and bool(it.rule.needs & {Need.WHOLE, Need.QUEUES})
        and not it.cluster
        for it in findings
    )
