"""What `policygen lint`, `rules` and `explain` do, from inputs to a report."""

from collections.abc import Mapping, Sequence
from typing import BinaryIO

from msgspec import Struct, field

from policygen import app, versions
from policygen.cluster import manifests
from policygen.cluster.view import Cluster
from policygen.errors import SpecError, UsageError
from policygen.finding import Finding, Severity
from policygen.lint import engine
from policygen.lint.catalog import RULES
from policygen.lint.dress import dress
from policygen.lint.engine import Outcome, Verdict
from policygen.lint.page import page
from policygen.lint.rule import Facts, Need, Rule
from policygen.plan.compile import Plan, compile_plan
from policygen.report.report import Ended, Report
from policygen.spec import document, files
from policygen.spec.files import Source
from policygen.spec.load import Loaded, load
from policygen.spec.nearest import suggest


class Settings(Struct, frozen=True):
    """What `lint` was asked."""

    specs: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    target: Mapping[str, str] = field(default_factory=dict)
    partial: bool = False
    """The manifests are not all: what is missing among them may be elsewhere."""
    only: tuple[str, ...] = ()
    """Rules to run; empty: all."""
    skip: tuple[str, ...] = ()


def lint(settings: Settings, *, stdin: BinaryIO | None = None) -> Report:
    """Judge a spec, manifests, or both. Raises SpecError for a refused spec, and UsageError."""
    rules = _selected(settings)
    sources, unreadable = files.read(settings.manifests, stdin=stdin)
    inside = manifests.spec_sources(sources)
    findings: list[Finding] = list(unreadable)
    spec = plan = None
    first_index = 0
    target = {
        **versions.DEFAULT,
        **{name: _version(name, text) for name, text in settings.target.items()},
    }
    if settings.specs or inside:
        loaded, plan, said = _spec(settings, inside, stdin)
        findings += said
        if loaded.documents:
            spec = loaded.spec
            first_index = len(loaded.documents)
            target = {name: getattr(spec.platform.target, name) for name in versions.DEFAULT}
    found = manifests.read(sources, first_index=first_index)
    findings += found.findings
    complete = found.complete and not unreadable
    cluster = Cluster(found.objects)
    facts = Facts(cluster, target, _given(settings, cluster, complete=complete), spec, plan)
    outcomes = engine.run(rules, facts) if settings.manifests else []
    hits = [hit for outcome in outcomes for hit in outcome.hits]
    findings += dress(found.documents, found.objects, hits)
    if found.nameless:
        findings.append(manifests.nameless_note(found.nameless))
    return Report(
        findings=tuple(document.ordered(findings)),
        rules=tuple(map(_ended, outcomes)),
        objects=len(found.objects),
        complete=complete,
    )


def explain(name: str) -> str:
    """The page of a rule. Raises UsageError for an unknown one."""
    return page(_rule(name).name).text


def rule_names() -> tuple[str, ...]:
    """The names of all rules."""
    return tuple(rule.name for rule in RULES)


def _rule(name: str) -> Rule:
    for rule in RULES:
        if rule.name == name:
            return rule
    raise UsageError(f'no rule "{name}"; {suggest(name, rule_names())}')


def _selected(settings: Settings) -> Sequence[Rule]:
    wanted = {_rule(name).name for name in settings.only} or set(rule_names())
    wanted -= {_rule(name).name for name in settings.skip}
    return [rule for rule in RULES if rule.name in wanted]


def _spec(
    settings: Settings, inside: Sequence[Source], stdin: BinaryIO | None
) -> tuple[Loaded, Plan, list[Finding]]:
    """The spec, of its own files and of documents among the manifests."""
    sources, unreadable = files.read(settings.specs, stdin=stdin)
    known = {source.path for source in sources}
    sources += [it for it in inside if it.path is None or it.path not in known]
    loaded = load(sources, settings.target, complete=not unreadable)
    plan = compile_plan(loaded.sound, frozenset())
    findings = [*unreadable, *app.findings_of(loaded, plan)]
    if unreadable or loaded.refused or plan.refused:
        raise SpecError(document.ordered(findings))
    if inside:  # documents of other groups are the manifests
        findings = [each for each in findings if each.rule != "foreign-documents"]
    return loaded, plan, findings


def _version(component: str, text: str) -> versions.Version:
    try:
        return versions.parse(component, text)
    except ValueError as error:
        raise UsageError(f"--target: {error}") from None


def _given(settings: Settings, cluster: Cluster, *, complete: bool) -> frozenset[Need]:
    """What the input has: nodes and their like count as absent only if some are there."""
    there = {
        Need.WHOLE: complete and not settings.partial,
        Need.NODES: cluster.nodes.any,
        Need.WORKLOADS: bool(cluster.workloads),
        Need.NAMESPACES: cluster.namespaces.any,
        Need.KUEUE_CONFIGURATION: cluster.kueue_configurations.any,
        Need.VOLCANO_CONFIGURATION: cluster.volcano_configurations.any,
        Need.SCHEDULER_CONFIGURATION: cluster.scheduler_configurations.any,
        Need.SPEC: bool(settings.specs),
    }
    return frozenset(need for need, given in there.items() if given)


def _ended(outcome: Outcome) -> Ended:
    rule = outcome.rule
    return Ended(
        rule=rule.name,
        severity=rule.severity,
        family=rule.family.value,
        verdict=outcome.verdict.value,
        about=rule.about,
        reason=outcome.reason,
    )


def worst(report: Report, fail_on: Severity) -> Verdict:
    """What decides the exit code."""
    if report.count(Verdict.CRASHED.value):
        return Verdict.CRASHED
    if not report.complete:
        return Verdict.NOT_EVALUATED
    failed = any(finding.severity >= fail_on for finding in report.findings)
    return Verdict.FAIL if failed else Verdict.PASS
