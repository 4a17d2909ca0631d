"""Severities and waivers of a spec: changed severities of rules, and accepted findings."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Finding, Hit
from policygen.core.rule import Rule, Severity
from policygen.core.suggest import suggest
from policygen.lint import registry
from policygen.lint.run_rules import (
    UNKNOWN_RULE,
    WAIVER_EXPIRED,
    WAIVER_NOT_ALLOWED,
    WAIVER_UNREADABLE,
    WAIVER_UNUSED,
)
from policygen.lint.waiver_annotations import FORM, Annotated, finding_about
from policygen.spec.programs import LintSettings, Waiver

OFF = "off"


def with_current_names(settings: LintSettings) -> LintSettings:
    """The same settings, with the current name of each rule that is written under a former one."""
    return replace(
        settings,
        severities=tuple(
            (registry.current_name(name), severity) for name, severity in settings.severities
        ),
        bounds=tuple((registry.current_name(name), bound) for name, bound in settings.bounds),
        waivers=tuple(replace(it, rule=registry.current_name(it.rule)) for it in settings.waivers),
        annotations=tuple(map(registry.current_name, settings.annotations)),
    )


class WaivedFindings(Struct, frozen=True):
    """Findings after the severities and waivers of a spec were applied."""

    shown: tuple[Finding, ...]
    waived: int
    """The number of findings that a waiver accepts."""
    off: int
    """The number of findings of rules that are off."""
    hits: tuple[Hit, ...]
    """Findings about the waivers of the spec."""
    of_annotations: tuple[Finding, ...] = ()
    """Findings about waivers in annotations."""


def misspelt(
    settings: LintSettings, known: Collection[str], bounded: Collection[str]
) -> Iterator[Hit]:
    """Hits for unknown rule names, and for bounds of rules without a bound."""
    for name, _ in settings.bounds:
        if registry.current_name(name) not in bounded and settings.at is not None:
            at = (settings.at / "bounds" / name).on_key()
            yield Hit(
                UNKNOWN_RULE,
                f'rule "{name}" has no time limit that `lint.bounds` could change; {suggest(name, bounded)}',
                at,
            )
    for name, _ in settings.severities:
        if registry.current_name(name) not in known and settings.at is not None:
            at = (settings.at / "severities" / name).on_key()
            yield Hit(UNKNOWN_RULE, unknown(name, known), at)
    for index, name in enumerate(settings.annotations):
        if registry.current_name(name) not in known and settings.at is not None:
            at = settings.at.to("annotations", index)
            yield Hit(UNKNOWN_RULE, unknown(name, known), at)
    for waiver in settings.waivers:
        if registry.current_name(waiver.rule) not in known:
            yield Hit(UNKNOWN_RULE, unknown(waiver.rule, known), waiver.at / "rule")


def unknown(name: str, known: Collection[str]) -> str:
    """The message for a name that cannot be selected."""
    if (rule := registry.find(name)) is not None:
        former = f' (formerly "{name}")' if rule.name != name else ""
        return (
            f'rule "{rule}"{former} checks the spec or other input and always runs with its own '
            "severity, so --rule, --skip, severities, waivers and annotations cannot name it"
        )
    return registry.unknown(name, known)


def apply(
    findings: Iterable[Finding],
    settings: LintSettings,
    *,
    today: date,
    evaluated: Collection[str] | None = None,
    annotated: Collection[Annotated] = (),
) -> WaivedFindings:
    """Apply the severities and waivers of the spec to findings.

    `evaluated` names the rules that ran; a waiver is reported as unused only if its rule ran and is
    not off. None means all rules. `annotated` are waivers of live objects; they apply to rules that the spec names.
    """
    settings = with_current_names(settings)
    annotated = [replace(it, rule=registry.current_name(it.rule)) for it in annotated]
    severities = dict(settings.severities)
    ran = partial(_ran, severities, evaluated)
    by_rule: dict[str, list[tuple[int, Waiver, re.Pattern[str], re.Pattern[str]]]] = {}
    for index, waiver in enumerate(settings.waivers):
        patterns = _pattern(waiver.object), _pattern(waiver.field)
        by_rule.setdefault(waiver.rule, []).append((index, waiver, *patterns))
    by_object = {
        (it.rule, it.cluster, it.object): it
        for it in annotated
        if it.rule in settings.annotations and not it.fault
    }
    used: set[int] = set()
    met: set[Annotated] = set()
    shown, waived, off = [], 0, 0
    for finding in findings:
        rule = _selectable(finding.rule)
        severity = severities.get(rule)
        if severity == OFF:
            off += 1
            continue
        matching = [
            (index, waiver)
            for index, waiver, name, field in by_rule.get(rule, ())
            if name.fullmatch(finding.object)
            and (field.fullmatch(finding.path) or field.fullmatch(finding.anchor))
        ]
        used.update(index for index, _ in matching)
        own = by_object.get((rule, finding.cluster, finding.object))
        if own is not None:
            met.add(own)
        if any(not _expired(waiver, today) for _, waiver in matching) or (
            own is not None and not _is_past(own, today)
        ):
            waived += 1
            continue
        if severity is not None:
            finding = finding._replace(configured=Severity[severity.upper()])  # noqa: PLW2901 - the same finding
        shown.append(finding)
    hits = []
    for index, waiver in enumerate(settings.waivers):
        if index in used and _expired(waiver, today):
            message = (
                f"this waiver expired on {waiver.expires}; fix the finding, or renew the waiver"
            )
            hits.append(Hit(WAIVER_EXPIRED, message, waiver.at / "expires"))
        elif index not in used and ran(waiver.rule):
            message = f'this waiver matches no finding of "{waiver.rule}"; remove the waiver'
            hits.append(Hit(WAIVER_UNUSED, message, waiver.at))
    of_annotations = _annotations(annotated, settings, met, today, ran)
    return WaivedFindings(tuple(shown), waived, off, tuple(hits), tuple(of_annotations))


def _ran(severities: Mapping[str, str], evaluated: Collection[str] | None, rule: str) -> bool:
    return severities.get(rule) != OFF and (evaluated is None or rule in evaluated)


def _annotations(
    annotated: Collection[Annotated],
    settings: LintSettings,
    met: Collection[Annotated],
    today: date,
    ran: Callable[[str], bool],
) -> Iterator[Finding]:
    """Findings about waivers in annotations: one for each rule and cluster."""
    faults: dict[tuple[str, str, Rule, str], list[Annotated]] = {}
    for waiver in annotated:
        fault = _fault(waiver, settings, met, today, ran)
        if fault is not None:
            faults.setdefault((waiver.cluster, waiver.rule, *fault), []).append(waiver)
    for (_, _, rule, message), these in faults.items():
        yield finding_about(rule, message, these)


def _fault(
    it: Annotated,
    settings: LintSettings,
    met: Collection[Annotated],
    today: date,
    ran: Callable[[str], bool],
) -> tuple[Rule, str] | None:
    """The rule and message for a waiver in an annotation; None if it is valid and used."""
    if it.rule not in settings.annotations:
        allowed = settings.annotations
        advice = suggest(it.rule, allowed) if allowed else "add the rule to spec.lint.annotations"
        return (
            WAIVER_NOT_ALLOWED,
            f"the waiver has no effect, because spec.lint.annotations of the Platform does not list this rule; {advice}",
        )
    if it.fault:
        return WAIVER_UNREADABLE, f"the waiver has no effect, because {it.fault}; write {FORM}"
    if it in met and _is_past(it, today):
        return (
            WAIVER_EXPIRED,
            f"the waiver expired on {it.expires}; fix the finding, or renew the waiver",
        )
    if it not in met and ran(it.rule):
        return WAIVER_UNUSED, "the waiver matches no finding; remove the annotation"
    return None


def _is_past(it: Annotated, today: date) -> bool:
    return it.expires is not None and it.expires < today


def _expired(waiver: Waiver, today: date) -> bool:
    return waiver.expires is not None and date.fromisoformat(waiver.expires) < today


def _selectable(rule: Rule) -> str:
    """The name by which a spec may waive it; empty for a refusal, even if an object rule has its name."""
    return rule.name if registry.can_be_selected(rule) else ""


def _pattern(text: str | None) -> "re.Pattern[str]":
    """The pattern of a waiver's object or field. Only `*` is special, since names and paths have dots."""
    parts = (text or "*").split("*")
    return re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
