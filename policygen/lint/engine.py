"""Runs rules: each ends as pass, fail, vacuous or not evaluated, and says why."""

from collections.abc import Iterable, Sequence
from traceback import format_exception

from msgspec import Struct

from policygen.finding import Hit, Verdict
from policygen.lint.rule import Facts, Need, Rule


class Outcome(Struct, frozen=True, eq=False):
    """A rule that was run, and what came of it."""

    rule: Rule
    verdict: Verdict
    reason: str = ""
    hits: tuple[Hit, ...] = ()


def run(rules: Iterable[Rule], facts: Facts) -> list[Outcome]:
    """Every rule's outcome. A rule that raises is our bug: it is reported, and others go on."""
    return [_run(rule, facts) for rule in rules]


def needed(rule: Rule, given: frozenset[Need]) -> Sequence[Need]:
    """What a rule needs and was not given, in the order of the enumeration."""
    return [need for need in Need if need in rule.needs and need not in given]


def _run(rule: Rule, facts: Facts) -> Outcome:
    if not rule.holds(facts.target):
        return Outcome(rule, Verdict.VACUOUS, "does not hold for the target versions")
    if not facts.cluster.objects:
        return Outcome(rule, Verdict.VACUOUS, "no objects")
    if rule.judges and facts.cluster.kinds.isdisjoint(rule.judges):
        return Outcome(rule, Verdict.VACUOUS, f"no {' or '.join(rule.judges)}")
    missing = needed(rule, facts.given)
    if missing:
        words = " and ".join(need.value for need in missing)
        return Outcome(rule, Verdict.NOT_EVALUATED, f"{words} not given")
    try:
        hits = tuple(
            Hit(rule.name, claim.message, claim.at, rule.severity, claim.related)
            for claim in rule.check(facts)
        )
    except Exception as error:  # noqa: BLE001 - whatever it is, it is one rule's bug
        return Outcome(rule, Verdict.CRASHED, "".join(format_exception(error)))
    return Outcome(rule, Verdict.FAIL if hits else Verdict.PASS, hits=hits)
