"""What `policygen lint` and `baseline update` do, from inputs to a report."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.app import baseline as app_baseline
from policygen.app import judge, verdicts
from policygen.app.judge import Against, Declared, Judged
from policygen.app.requests import LintSettings as Settings
from policygen.app.requests import Settings as RenderSettings
from policygen.core import versions
from policygen.core.errors import UsageError
from policygen.core.finding import Finding
from policygen.core.rule import Family
from policygen.documents import files
from policygen.documents.files import Source
from policygen.documents.locate import dress, ordered
from policygen.drift import rule_names
from policygen.kubernetes import manifests
from policygen.lint import baseline, selection, waiver_annotations, waivers
from policygen.lint.baseline import Baseline
from policygen.lint.skew import skew
from policygen.report.report import Report
from policygen.spec import programs
from policygen.spec.rules import FOREIGN_DOCUMENTS

if TYPE_CHECKING:  # what reads specs and clusters is imported where there are some
    from policygen.app.sources import Look, Looks
    from policygen.client.live import Wanted
    from policygen.drift.drift import Rendered
    from policygen.plan.compile import Plan
    from policygen.spec.load import Loaded


class _Spec(Struct, frozen=True):
    """What there is to say of a spec, if there is one."""

    loaded: "Loaded | None" = None
    plan: "Plan | None" = None
    findings: tuple[Finding, ...] = ()
    hollow: bool = False
    """Whether what was given for one holds none."""


def lint(
    settings: Settings,
    *,
    today: date,
    stdin: BinaryIO | None = None,
    looks: "Looks | None" = None,
    instead: Sequence[Source] | None = None,
) -> Report:
    """Judge a spec, manifests and clusters. Raises SpecError for a refused spec, and UsageError.

    `looks` looks at clusters; `instead` are other texts for what the manifests' paths hold.
    """
    path = settings.baseline
    if path is None:
        return _judged(settings, today, stdin, looks, instead)
    known = app_baseline.read(path)
    report = _judged(settings, today, stdin, looks, instead)
    return app_baseline.compared(report, path, known, verdicts.evaluated(report.rules))


def refused(settings: Settings, findings: Sequence[Finding]) -> Report:
    """What there is to report where the spec was refused: why, and that no rule has judged anything."""
    rules = selection.rules(settings.only, settings.skip)
    ended = verdicts.unjudged(rules, "the spec was refused")
    return Report(findings=tuple(findings), rules=ended, complete=False)


def update(
    settings: Settings,
    *,
    today: date,
    stdin: BinaryIO | None = None,
    looks: "Looks | None" = None,
) -> str:
    """Write the findings of now into the baseline, and say what that changes.

    Raises UsageError without one, and what `lint` raises.
    """
    path = settings.baseline
    if path is None:
        raise UsageError("baseline update needs a file; write --baseline FILE")
    before = app_baseline.read(path) if path.exists() else Baseline(baseline.VERSION, ())
    return app_baseline.write(path, before, _judged(settings, today, stdin, looks))


def reading(settings: Settings) -> "Wanted":
    """What the rules need of a cluster, and what the spec renders. Raises SpecError, UsageError."""
    spec = _spec(settings, (), None)
    return _reading(settings, spec, _target(settings, spec), _rendered(settings, spec))


def _judged(
    settings: Settings,
    today: date,
    stdin: BinaryIO | None,
    looks: "Looks | None",
    instead: Sequence[Source] | None = None,
) -> Report:
    """All findings but for those that the spec waives."""
    wanted = selection.names(settings.only, settings.skip)
    sources, unreadable = files.read(settings.manifests, stdin=stdin)
    sources = sources if instead is None else list(instead)
    spec = _spec(settings, manifests.spec_sources(sources), stdin)
    documents = spec.loaded.documents if spec.loaded else ()
    found = manifests.read(sources, first_index=len(documents))
    target = _target(settings, spec)
    rules = selection.rules(settings.only, settings.skip)
    against = Against(
        target,
        asked=target if spec.loaded else _given(settings),
        spec=spec.loaded.spec if spec.loaded else None,
        plan=spec.plan,
        documents=tuple(documents),
        kubeconfig=str(settings.clusters.kubeconfig or ""),
    )
    findings = [
        it
        for it in spec.findings
        if it.rule.family is not Family.REPORTED or it.rule.name in wanted
    ]
    parts: list[Judged] = []
    clusters: dict[str, Mapping[str, versions.Version]] = {}
    index = len(documents) + len(found.documents)
    if settings.manifests:
        declared = Declared(
            settings.manifests, sources, found, unreadable, partial=settings.partial
        )
        parts.append(judge.judge_manifests(declared, rules, against))
    compared: list[str] = []
    lost = 0
    annotated: list[waiver_annotations.Annotated] = []
    # What the spec renders is worked out while lists are on their way.
    rendered = cache(lambda: _rendered(settings, spec))
    for look in _looks(settings, spec, target, rendered, looks):
        snapshot = look(index)
        if isinstance(snapshot, Finding):
            findings.append(snapshot)
            lost += 1
            continue
        annotated += waiver_annotations.annotated(snapshot)
        of_cluster = judge.judge(snapshot, rules, replace(against, rendered=rendered()), index)
        parts.append(of_cluster)
        compared += [snapshot.seen.context] if verdicts.compared(of_cluster.outcomes) else []
        clusters[snapshot.seen.context] = of_cluster.runs
        index = of_cluster.next_index
    if settings.extras or settings.templates:
        rendered()  # what was asked for is tried even where nothing is compared
    findings += (it for part in parts for it in part.findings)
    findings += skew(clusters)
    ended = verdicts.merged([part.outcomes for part in parts], whole=lost == 0)
    complete = not (lost or spec.hollow) and all(part.complete for part in parts)
    idle = verdicts.idle(ended) if settings.only and complete else None
    findings += [idle] if idle else []
    lint_settings = spec.loaded.spec.platform.lint if spec.loaded else programs.LintSettings()
    judged = waivers.judge(
        findings,
        lint_settings,
        today=today,
        evaluated=verdicts.evaluated(ended) & wanted,
        annotated=annotated if spec.loaded else (),
    )
    about_waivers = dress(documents, judged.hits)
    return Report(
        findings=tuple(ordered([*judged.shown, *about_waivers, *judged.of_annotations])),
        rules=ended,
        objects=sum(part.objects for part in parts),
        complete=complete and not idle,
        off=judged.off,
        waived=judged.waived,
        documents=tuple(found.documents),
        drifts=tuple(it for part in parts for it in part.drifts),
        gaps=tuple(it for part in parts for it in part.gaps),
        compared=tuple(compared),
    )


def _spec(settings: Settings, inside: Sequence[Source], stdin: BinaryIO | None) -> _Spec:
    """The spec, of its own files and of documents among the manifests."""
    if not settings.specs and not inside:
        return _Spec()
    from policygen.app.compile import compiled, no_spec

    made = compiled(settings.specs, settings.target, stdin=stdin, among=inside)
    if not made.loaded.own:
        told = [it for it in made.findings if it.rule is not FOREIGN_DOCUMENTS]
        hollow = no_spec(settings.specs, made.loaded)
        return _Spec(findings=(*told, *hollow), hollow=bool(hollow))
    return _Spec(made.loaded, made.plan, made.findings)


def _target(settings: Settings, spec: _Spec) -> dict[str, versions.Version]:
    """The versions that objects are judged for: the spec's, or those of the command line."""
    if spec.loaded:
        platform = spec.loaded.spec.platform
        return {name: getattr(platform.target, name) for name in versions.DEFAULT}
    return {**versions.DEFAULT, **_given(settings)}


def _given(settings: Settings) -> dict[str, versions.Version]:
    return {name: _version(name, text) for name, text in settings.target.items()}


def _looks(
    settings: Settings,
    spec: _Spec,
    target: Mapping[str, versions.Version],
    rendered: Callable[[], "Rendered | None"],
    looks: "Looks | None",
) -> "Iterable[Look]":
    """A look at each cluster that was named."""
    if not settings.clusters.named:
        return ()
    from policygen.app import sources as app_sources

    reads = replace(
        _reading(settings, spec, target, None),
        more=lambda: _reading(settings, spec, target, rendered()),
    )
    return (looks or app_sources.looks)(settings.clusters, reads)


def _reading(
    settings: Settings,
    spec: _Spec,
    target: Mapping[str, versions.Version],
    rendered: "Rendered | None",
) -> "Wanted":
    from policygen.app import sources as app_sources

    objects = [it.object for it in rendered.wanted] if rendered else []
    of_spec = spec.loaded.spec if spec.loaded else None
    namespaces = settings.clusters.namespaces
    return app_sources.wanted(
        selection.rules(settings.only, settings.skip), objects, of_spec, target, namespaces
    )


def _rendered(settings: Settings, spec: _Spec) -> "Rendered | None":
    """What a spec renders; None without one, or without a rule that would look at it."""
    if spec.loaded is None or selection.names(settings.only, settings.skip).isdisjoint(
        rule_names.RULES
    ):
        return None
    from policygen.app import drift

    asked = RenderSettings(
        settings.specs, settings.target, extras=settings.extras, templates=settings.templates
    )
    return drift.rendered(asked, spec.loaded)


def _version(component: str, text: str) -> versions.Version:
    try:
        return versions.parse(component, text)
    except ValueError as error:
        raise UsageError(f"--target: {error}") from None
