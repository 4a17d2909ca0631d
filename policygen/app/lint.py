"""What `policygen lint` and `policygen baseline update` do, from inputs to a report."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from msgspec.structs import replace

from policygen.app import baseline, judge, verdicts
from policygen.app.inputs import RefusedSpecError, Run, prepare, with_rendered
from policygen.app.judge import CheckResult, CheckSettings, ClusterCheckResult
from policygen.app.manifest_files import ManifestFiles
from policygen.app.requests import LintRequest
from policygen.core.errors import SpecError, UsageError
from policygen.core.finding import Finding, Verdict
from policygen.core.quoting import listed, quoted
from policygen.core.rule import Family
from policygen.documents.locate import locate, ordered
from policygen.documents.rules import NO_SPEC_FILES, UNREADABLE_INPUT
from policygen.kubernetes.snapshot import Snapshot
from policygen.lint import waivers
from policygen.lint.rule import ClusterState, Need, ObjectRule
from policygen.lint.run_rules import NOTHING_TO_CHECK
from policygen.lint.skew import skew
from policygen.plan.model_names import MODEL
from policygen.plan.rules import IMAGE_MISSING
from policygen.report.report import UNREAD, Report

if TYPE_CHECKING:  # what reads specs and clusters is imported only if the request names some
    from concurrent.futures import Future

    from policygen.client.live import ClusterQuery, Progress
    from policygen.client.requests import Server
    from policygen.drift.drift import Rendered


def lint(  # noqa: PLR0913 - the request, and what it is answered from
    request: LintRequest,
    *,
    today: date,
    stdin: BinaryIO | None = None,
    files: ManifestFiles | None = None,
    connection: "Future[Server] | None" = None,
    progress: "Progress" = lambda _: None,
) -> Report:
    """Check a spec, manifests and clusters. Raises RefusedSpecError, and UsageError.

    `files` are those of the manifests, if they were opened already. `connection` is that to the only
    cluster, if it was reached already.
    """
    run = prepare(request, stdin, files)
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
            why = f"{why}, and checks that need a valid spec did not run"
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


def cluster_query(run: Run, *, with_manifests: bool = True) -> "ClusterQuery":
    """What the rules and the rendered spec need from a cluster, beside which manifests may be checked."""
    from policygen.app import sources

    rules = [it for it in run.selected.rules if with_manifests or Need.STATE not in it.needs]
    namespaces = run.request.clusters.namespaces
    return sources.cluster_query(rules, run.comparable, run.target, namespaces)


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
    query = cluster_query(run, with_manifests=bool(request.manifests))
    for begin in sources.clusters(request.clusters, query, connection, progress):
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
    # The image of these models is in their manifests, and is checked there.
    objects = run.manifests.found.objects if run.spec.findings else ()
    written = {f"Model {it.labels.get(MODEL)}" for it in objects}
    parts: list[CheckResult] = [*read]
    if run.request.manifests:
        parts[:0] = _of_manifests(run, results)
    rules = verdicts.merged([part.outcomes for part in parts], whole=not unreadable)
    findings = [
        *(
            finding
            for finding in run.spec.findings
            if finding.rule.family is not Family.REPORTED or finding.rule.name in run.selected.names
            if finding.rule is not IMAGE_MISSING or finding.object not in written
        ),
        *unreadable,
        *(it for part in parts for it in part.findings),
        *verdicts.too_large([part.outcomes for part in parts]),
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
    elif any(it.verdict is Verdict.CRASHED for it in rules):
        incomplete = "a rule did not run because of a bug in policygen"
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
        kept=tuple(part.kept for part in parts),
    )
    if run.known is not None and run.request.baseline is not None:
        known, evaluated = run.known, verdicts.evaluated(rules)
        made = baseline.compared(made, run.request.baseline, known, evaluated)
    return replace(made, elsewhere=_elsewhere(run, made.findings))


def _of_manifests(run: Run, results: Sequence[ClusterCheckResult | Finding]) -> list[CheckResult]:
    """The result for the manifests of a run beside each cluster. They are partial if one is unknown."""
    read = [it for it in results if isinstance(it, ClusterCheckResult)]
    states = [it.state for it in read if it.state]
    known = len(states) == len(results)
    inputs = run.manifests if known else replace(run.manifests, partial=True)
    found = [
        judge.judge_manifests(inputs, run.selected.rules, replace(_settings(run), state=state))
        for state in states or (None,)
    ]
    # Related objects of a cluster have other places in the next one.
    texts = [{it._replace(related=()) for it in part.findings} for part in found]
    reported = {it._replace(related=()) for part in read for it in part.findings}
    for i, part in enumerate(found):
        new = []
        for it in part.findings:
            same = it._replace(related=())
            where = [state for state, those in zip(states, texts, strict=False) if same in those]
            if same not in reported:
                new.append(it if len(where) == len(states) else _on(where, it))
        reported.update(texts[i])
        found[i] = replace(part, findings=new, objects=0 if i else part.objects)
    return found


def _on(states: Sequence[ClusterState], finding: Finding) -> Finding:
    """The finding, which depends on the objects of these clusters, with their names."""
    if any(quoted(it.name) in finding.message for it in states) or finding.cluster:
        return finding
    return finding._replace(
        message=f"on {listed([it.shown for it in states], 'and')}: {finding.message}"
    )


def _elsewhere(run: Run, findings: Sequence[Finding]) -> int:
    """The number of findings in single files that depend on objects which other files may contain."""
    request = run.request
    whole = run.spec.compiled or request.clusters.named
    if whole or any(Path(path).is_dir() for path in request.manifests):
        return 0
    return sum(
        isinstance(it.rule, ObjectRule)
        and bool(it.rule.needs & {Need.WHOLE, Need.QUEUES})
        and not it.cluster
        for it in findings
    )
