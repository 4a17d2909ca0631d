"""How a lint ended: each rule over all inputs, and what decides the exit code."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from policygen.core.finding import Finding, Verdict
from policygen.core.quoting import listed
from policygen.core.rule import Family, Severity
from policygen.lint.engine import RuleOutcome
from policygen.lint.registry import REPORTED, RULES
from policygen.lint.rule import ObjectRule
from policygen.lint.run_rules import INPUT_TOO_LARGE, NOTHING_TO_CHECK
from policygen.report.report import Report, RuleResult

_WORST = (
    Verdict.CRASHED,
    Verdict.FAIL,
    Verdict.NOT_EVALUATED,
    Verdict.PASS,
    Verdict.VACUOUS,
)


def merged(runs: Sequence[Sequence[RuleOutcome]], *, whole: bool) -> tuple[RuleResult, ...]:
    """The result of each rule: the worst of all inputs. `whole` is whether all inputs were read."""
    return tuple(_ended(outcomes, whole=whole) for outcomes in zip(*runs, strict=True))


def with_findings(
    rules: Sequence[RuleResult], findings: Sequence[Finding]
) -> tuple[RuleResult, ...]:
    """The same, where a rule that checks objects fails too if a spec has the same fault."""
    found = {it.rule.name for it in findings if not isinstance(it.rule, ObjectRule)}
    return tuple(
        replace(result, verdict=Verdict.FAIL, reason="")
        if result.rule in found and result.verdict is not Verdict.CRASHED
        else result
        for result in rules
    )


def unjudged(rules: Sequence[ObjectRule], reason: str) -> tuple[RuleResult, ...]:
    """The results of rules if nothing is checked."""
    return merged([[RuleOutcome(it, Verdict.NOT_EVALUATED, reason) for it in rules]], whole=False)


def idle(rules: Sequence[RuleResult]) -> Finding | None:
    """A finding if none of the selected rules could be evaluated."""
    if not rules or any(it.verdict is not Verdict.NOT_EVALUATED for it in rules):
        return None
    reasons = ", ".join(f"{it.rule} ({it.reason})" for it in rules)
    message = f"no selected rule could be evaluated: {reasons}"
    return Finding(NOTHING_TO_CHECK, message)


def too_large(parts: Sequence[Sequence[RuleOutcome]]) -> Iterator[Finding]:
    """A finding for each reason why rules do not check all of an input that is too large for them."""
    names: dict[str, dict[str, None]] = {}
    for it in (it for outcomes in parts for it in outcomes if it.too_large):
        names.setdefault(it.reason, {})[it.rule.name] = None
    for reason, rules in names.items():
        shown = listed([*rules], "and")
        were = "rule %s was" if len(rules) == 1 else "rules %s were"
        message = f"{were % shown} not evaluated completely: {reason}"
        yield Finding(
            INPUT_TOO_LARGE,
            f"{message}; check a part of the input, or write --skip with the name of the rule",
        )


def evaluated(rules: Sequence[RuleResult]) -> set[str]:
    """The rules that ran on all inputs; rules about a spec always do."""
    judged = {Verdict.PASS, Verdict.FAIL, Verdict.VACUOUS}
    of_specs = REPORTED - {it.rule for it in rules}
    return {it.rule for it in rules if it.whole and it.verdict in judged} | of_specs


def vacuous(rules: Sequence[RuleResult]) -> set[str]:
    """The rules that had nothing to check."""
    return {it.rule for it in rules if it.verdict is Verdict.VACUOUS}


def compared(outcomes: Sequence[RuleOutcome]) -> bool:
    """Whether a cluster was compared with all objects that the spec renders."""
    judged = {
        outcome.rule.name
        for outcome in outcomes
        if outcome.verdict in {Verdict.PASS, Verdict.FAIL} and not outcome.missed
    }
    return judged.issuperset(it.name for it in RULES if it.family is Family.DRIFT)


def verdict(report: Report, fail_on: Severity) -> Verdict:
    """What decides the exit code."""
    if report.count(Verdict.CRASHED):
        return Verdict.CRASHED
    if not report.complete:
        return Verdict.NOT_EVALUATED
    failed = any(finding.severity >= fail_on for finding in report.findings)
    return Verdict.FAIL if failed else Verdict.PASS


def _ended(outcomes: Sequence[RuleOutcome], *, whole: bool) -> RuleResult:
    outcome = min(outcomes, key=lambda it: _WORST.index(it.verdict))
    rule: ObjectRule = outcome.rule
    return RuleResult(
        rule=rule.name,
        severity=rule.severity,
        family=rule.family,
        verdict=outcome.verdict,
        about=rule.summary,
        reason=outcome.reason,
        lacks=outcome.lacks,
        partial=outcome.partial,
        too_large=outcome.too_large,
        whole=whole
        and not any(
            it.missed or it.partial or it.verdict is Verdict.NOT_EVALUATED for it in outcomes
        ),
    )
