"""Runs rules: each ends as pass, fail, vacuous or not evaluated, and says why."""

from collections.abc import Iterable, Sequence
from traceback import format_exception

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Hit, Verdict, dotted
from policygen.core.rule import Family
from policygen.kubernetes.field_access import Roots
from policygen.kubernetes.snapshot import CONFIG_MAP, GroupKind, Seen
from policygen.lint import kinds
from policygen.lint.core.server_refusals import refused
from policygen.lint.rule import Facts, Need, ObjectRule


class RuleOutcome(Struct, frozen=True, eq=False):
    """A rule that was run, and what came of it."""

    rule: ObjectRule
    verdict: Verdict
    reason: str = ""
    hits: tuple[Hit, ...] = ()
    missed: tuple[GroupKind, ...] = ()
    """Kinds of the cluster that it looks at and that were not read in full."""
    lacks: tuple[str, ...] = ()
    """The input that it needs and that was not given."""


def run(rules: Iterable[ObjectRule], facts: Facts) -> list[RuleOutcome]:
    """Every rule's outcome. A rule that raises is our bug: it is reported, and others go on."""
    rules = tuple(rules)
    facts = replace(facts, run=frozenset(rule.name for rule in rules))
    if facts.cluster.seen is None:  # a server has taken nothing that is misspelt
        misspelt = facts.cluster.derive(refused).misspelt
        if misspelt:
            facts = replace(facts, cluster=facts.cluster.with_misspelt(misspelt))
    return [_run(rule, facts) for rule in rules]


def needed(rule: ObjectRule, given: frozenset[Need]) -> Sequence[Need]:
    """What a rule needs and was not given, in the order of the enumeration."""
    return [need for need in Need if need in rule.needs and need not in given]


def _run(rule: ObjectRule, facts: Facts) -> RuleOutcome:
    seen = facts.cluster.seen
    missed = missing(rule, facts, seen) if seen else ()
    if not rule.holds(facts.target):
        return RuleOutcome(rule, Verdict.VACUOUS, "does not hold for the target versions")
    settled = _of_cluster(rule, seen, missed) if seen else None
    settled = settled or _without_running(rule, facts, missed)
    if settled is not None:
        return settled
    try:
        hits = tuple(_hits(rule, facts))
    except _UnknownError as unknown:
        return RuleOutcome(rule, Verdict.NOT_EVALUATED, str(unknown))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is one rule's bug
        return RuleOutcome(rule, Verdict.CRASHED, "".join(format_exception(error)))
    if hits:
        return RuleOutcome(rule, Verdict.FAIL, hits=hits, missed=missed)
    return _unread(rule, seen, missed) if seen and missed else RuleOutcome(rule, Verdict.PASS)


class _UnknownError(Exception):
    """A rule uses an invalid field to check other objects."""


def _hits(rule: ObjectRule, facts: Facts) -> Sequence[Hit]:
    """The hits of a rule, without those that depend on an invalid field.

    The intended value of an invalid or misspelt field is unknown. Hits of a rule that did not read
    it are valid. A rule that read it runs again without the object. Raises _UnknownError if the
    rule uses the field to check other objects.
    """
    cluster = facts.cluster
    hits, read = _looked(rule, facts)
    if read:
        hits, read = _looked(rule, replace(facts, cluster=cluster.without(read)))
    if read:  # the rule read invalid fields of other objects
        every = frozenset(it.at for it, _ in cluster.invalid_fields)
        hits, _ = _looked(rule, replace(facts, cluster=cluster.without(every)))
    return hits


def _looked(rule: ObjectRule, facts: Facts) -> tuple[Sequence[Hit], Roots]:
    accesses = facts.cluster.accesses
    accesses.take()
    hits: Sequence[Hit] = ()
    try:
        hits = tuple(rule.check(facts))
    except Exception:
        read = accesses.take()
        if not read:
            raise  # else the rule relied on the type of an invalid field
    else:
        read = accesses.take()
    consulted = kinds.consulted(rule) if read else ()
    for it, path in facts.cluster.invalid_fields:
        kind = GroupKind(it.group, it.kind)
        kind = CONFIG_MAP if kind in kinds.FILES else kind
        if it.at in read and kind in consulted:
            raise _UnknownError(f"{dotted(path)} of {it} could not be read")
    return hits, read


def _of_cluster(rule: ObjectRule, seen: Seen, missed: Sequence[GroupKind]) -> RuleOutcome | None:
    """What is known of a rule by how far a cluster was seen."""
    taken = rule.family is Family.INVALID and not rule.stands
    if taken and not kinds.is_of_files(rule):
        return RuleOutcome(rule, Verdict.VACUOUS, "the server has taken these objects")
    if not kinds.looked_up(rule).isdisjoint(missed):
        return _unread(rule, seen, missed)
    if seen.namespaces and (others := kinds.elsewhere(rule)):
        where = ", ".join(seen.namespaces)
        return RuleOutcome(
            rule, Verdict.NOT_EVALUATED, f"{min(others).kind} was read in {where} only"
        )
    return None


def _without_running(
    rule: ObjectRule, facts: Facts, missed: Sequence[GroupKind]
) -> RuleOutcome | None:
    """What is known of a rule by what it is about and what it needs."""
    seen = facts.cluster.seen
    # What a spec renders is judged where nothing of it is there, too.
    empty = Need.SPEC not in rule.needs or Need.SPEC not in facts.given
    if empty and rule.judges and facts.cluster.kinds.isdisjoint(rule.judges):
        if seen and missed:
            return _unread(rule, seen, missed)
        return RuleOutcome(rule, Verdict.VACUOUS, f"no {' or '.join(rule.judges)}")
    if empty and not facts.cluster.objects:
        return RuleOutcome(rule, Verdict.VACUOUS, "no objects")
    lacking = needed(rule, facts.given)
    if lacking:
        if Need.SPEC in lacking and seen and seen.redacted:
            reason = "the snapshot is redacted: its names are hashes, so it cannot be compared with the spec"
            return RuleOutcome(rule, Verdict.NOT_EVALUATED, reason)
        words = tuple(need.value for need in lacking)
        reason = f"{' and '.join(words)} not given"
        return RuleOutcome(rule, Verdict.NOT_EVALUATED, reason, lacks=words)
    return None


def missing(rule: ObjectRule, facts: Facts, seen: Seen) -> tuple[GroupKind, ...]:
    """The kinds that a rule looks at and that nobody read in full, sorted."""
    wanted = kinds.judged(rule) | kinds.looked_up(rule)
    unasked: set[GroupKind] = set()
    if rule.family is Family.DRIFT and facts.rendered is not None:
        wanted |= facts.rendered.kinds
        unasked = {CONFIG_MAP} if facts.rendered.unasked(facts.cluster) else set()
    return tuple(sorted((wanted - seen.read - seen.unserved) | unasked))


def _unread(rule: ObjectRule, seen: Seen, missed: Sequence[GroupKind]) -> RuleOutcome:
    said = {(gap.group, gap.kind): str(gap) for gap in reversed(seen.gaps)}
    first = said.get(missed[0], f"{missed[0]} was not read")
    more = f", nor {len(missed) - 1} other kinds" if len(missed) > 1 else ""
    return RuleOutcome(rule, Verdict.NOT_EVALUATED, f"{first}{more}", missed=tuple(missed))
