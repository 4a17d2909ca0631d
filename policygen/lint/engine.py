"""Runs rules. Each passes, fails, is vacuous, is not evaluated or crashes, with a reason."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from traceback import format_exception
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from policygen.core import processes
from policygen.core.finding import At, Edit, Hit, Verdict, dotted
from policygen.core.quoting import counted
from policygen.core.rule import Family, Severity
from policygen.documents.edit.apply import EditError, applied
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.field_access import Roots
from policygen.kubernetes.object import Object
from policygen.kubernetes.renames import as_written
from policygen.kubernetes.snapshot import CONFIG_MAP, GroupKind, Seen
from policygen.lint import differences, exceeded, kinds, train_job_places
from policygen.lint.core import api_versions
from policygen.lint.core.server_refusals import as_meant, refused
from policygen.lint.rule import Facts, Need, NotEvaluatedError, ObjectRule, TooLargeError

MANY = 4000
"""Objects of manifests for which a second process pays. It takes about 60 ms of processor time, and
the rules take about 120 ms for each 1,000 objects."""


class RuleOutcome(Struct, frozen=True, eq=False):
    """The result of one rule."""

    rule: ObjectRule
    verdict: Verdict
    reason: str = ""
    hits: tuple[Hit, ...] = ()
    missed: tuple[GroupKind, ...] = ()
    """Kinds that it reads and that were not read completely from the cluster."""
    lacks: tuple[str, ...] = ()
    """The input that it needs and that was not given."""
    partial: bool = False
    """Whether the reason is an invalid field or the size of the input; some hits may then be missing."""
    too_large: bool = False
    """Whether the reason is the size of the input."""


def run(rules: Iterable[ObjectRule], facts: Facts) -> list[RuleOutcome]:
    """The outcome of every rule. A rule that raises has a bug: it is reported, and the others run."""
    outcomes = _outcomes(tuple(rules), facts)
    joined = differences.joined(exceeded.joined([outcome.hits for outcome in outcomes]))
    joined = [train_job_places.placed(facts.cluster, hits) for hits in joined]
    return [
        one
        if hits is one.hits
        else replace(one, hits=hits, verdict=Verdict.FAIL if hits else Verdict.PASS)
        for one, hits in zip(outcomes, joined, strict=True)
    ]


def _outcomes(rules: Sequence[ObjectRule], facts: Facts) -> list[RuleOutcome]:
    facts = replace(facts, run=frozenset(rule.name for rule in rules))
    cluster = facts.cluster
    with _begun(rules, facts) as outcomes:
        # A server accepts no misspelled field.
        slips = _Slips() if cluster.seen is not None else _slips(facts)
        found = outcomes()
    if slips.places:
        objects, refusals = as_meant(cluster.derive(refused), cluster.objects, slips.kinds)
        slips = replace(slips, roots=frozenset(slips.kinds.keys() - refusals.misspelt.keys()))
        cluster = cluster.with_objects(objects, refused, refusals)
        found = _compared(found, rules, replace(facts, cluster=cluster), slips)
    causes = frozenset(hit for one in found for hit in one.hits if slips.are(hit))
    for is_error in (True, False):  # a warning that follows from an error is no cause
        ran = [it for it in found if (it.rule.severity is Severity.ERROR) is is_error]
        hits = [hit for one in ran for hit in one.hits if hit.meant]
        if not hits:
            continue
        causes = causes.union(hits)
        edited, places = _meant(cluster, hits)
        before = replace(cluster.derive(refused), misspelt={}, miswritten={})
        objects, refusals = as_meant(before, cluster.objects, edited)
        cluster = cluster.with_objects(objects, refused, refusals)
        slips = _Slips(places=places, hits=causes)
        hitting = [it for it in found if it.hits]  # of the others, nothing can be a consequence
        again = [it.rule for it in hitting]
        compared = _compared(hitting, again, replace(facts, cluster=cluster), slips)
        by_rule = dict(zip(again, compared, strict=True))
        certain = [by_rule.get(it.rule, it) for it in found]
        blamed = _blamed(found, certain, slips)
        found = [_raised(it, blamed) for it in certain] if blamed else certain
    return found


def _compared(
    written: Sequence[RuleOutcome], rules: Sequence[ObjectRule], meant: Facts, slips: "_Slips"
) -> list[RuleOutcome]:
    """The outcomes of the input as written that are also those of what was meant."""
    with _begun(rules, meant) as outcomes:
        return [_certain(one, it, slips) for one, it in zip(written, outcomes(), strict=True)]


class _Slip(NamedTuple):
    """A misspelled place."""

    object: Object
    name: str
    """What a reason calls it."""
    is_value: bool = False
    """Whether rules that use the value can report it too, at the same place."""

    @property
    def kind(self) -> GroupKind:
        """The kind of the object."""
        return GroupKind(self.object.group, self.object.kind)


class _Slips(Struct, frozen=True, eq=False):
    """What is misspelled in the input: fields, values, and apiVersions or kinds of objects."""

    kinds: Mapping[At, Object] = field(default_factory=dict)
    """The objects with a misspelled apiVersion or kind, by their roots, as they should be."""
    places: Mapping[At, _Slip] = field(default_factory=dict)
    """By place."""
    roots: frozenset[At] = frozenset()
    """The objects in `kinds` without another misspelled field."""
    hits: frozenset[Hit] = frozenset()
    """The hits that report places which have been corrected."""

    def are(self, hit: Hit) -> bool:
        """Whether a hit reports a misspelled place itself."""
        slip = self.places.get(hit.at) if hit.at else None
        is_read = slip is not None and slip.is_value and hit.rule.family is not Family.INVALID
        return hit in self.hits or (slip is not None and not is_read)

    def are_in(self, hit: Hit) -> bool:
        """Whether a hit is in an object of which only the apiVersion or kind is misspelled."""
        at = hit.at
        return at is not None and any(
            At(at.document, at.path[:length]) in self.roots for length in range(len(at.path) + 1)
        )


def _slips(facts: Facts) -> _Slips:
    refusals = facts.cluster.derive(refused)
    kinds = _kinds(facts)
    places: dict[At, _Slip] = {}
    slipped = {*kinds, *refusals.misspelt, *refusals.miswritten}
    for it in facts.cluster.objects if slipped else ():
        if it.at in kinds:
            wrong = "kind" if api_versions.is_of_kind(it) else "apiVersion"
            places[it.at / wrong] = _Slip(it, f"the {wrong}")
            continue
        for path in refusals.misspelt.get(it.at, ()):
            places[it.at.to(*path).on_key()] = _Slip(it, f"the unknown field {dotted(path)}")
        for path in refusals.miswritten.get(it.at, ()):
            slip = _Slip(it, f"the invalid value of {dotted(path)}", is_value=True)
            places[it.at.to(*path)] = slip
    return _Slips(kinds, places)


def _meant(cluster: Cluster, hits: Sequence[Hit]) -> tuple[dict[At, Object], dict[At, _Slip]]:
    """The objects with the edits of hits, by root, and the places of these edits."""
    edits = [edit for hit in hits for edit in hit.meant]
    used = {it.at.document for it in edits}
    roots = {it.at: it for it in cluster.objects if it.at.document in used}
    by_root: dict[At, list[Edit]] = {}
    places: dict[At, _Slip] = {}
    for edit in edits:
        document, path, _ = edit.at
        above = (At(document, path[:length]) for length in range(len(path), -1, -1))
        root = next((it for it in above if it in roots), None)
        if root is None:
            continue  # a pod of a snapshot
        at = as_written(roots[root], edit.at)
        own = at.path[len(root.path) :]
        by_root.setdefault(root, []).append(edit._replace(at=At(0, own)))
        name = f"the probable mistake in {dotted(own)}"
        places[edit.at] = _Slip(roots[root], name, is_value=True)
    return {at: _edited(roots[at], own) for at, own in by_root.items()}, places


def _edited(obj: Object, edits: Sequence[Edit]) -> Object:
    """The object with edits below its root; unchanged if they contradict each other."""
    try:
        data = applied(obj.data, edits, {})
    except EditError:
        return obj
    return Object.read(data, obj.at) or replace(obj, data=data)


def _kinds(facts: Facts) -> dict[At, Object]:
    """The objects of the input with a misspelled apiVersion or kind, as they should be."""
    cluster = facts.cluster
    found = {}
    for it in cluster.objects:
        meant = api_versions.meant(it, facts.target) if it.at not in cluster.context else None
        if meant is not None:
            found[it.at] = meant
    return found


def _certain(written: RuleOutcome, meant: RuleOutcome, slips: _Slips) -> RuleOutcome:
    """The outcome of a rule, given that of the objects as written and as they were probably meant.

    Only hits of both are certain, besides those on the misspelled places themselves, and those in
    objects with a misspelled kind, which no rule checks as written. Without any, the rule is not
    evaluated if the other hits differ.
    """
    inside = [it._replace(edits=()) for it in meant.hits if slips.are_in(it)]
    if not {written.verdict, meant.verdict} <= {Verdict.PASS, Verdict.FAIL}:
        if inside and written.verdict is Verdict.VACUOUS:
            return replace(meant, hits=tuple(inside))
        return min(written, meant, key=lambda it: it.verdict in {Verdict.PASS, Verdict.FAIL})
    of_slips = tuple(it for it in written.hits if slips.are(it))
    others = [it for it in written.hits if not slips.are(it)]
    places = {(it.at, "" if it.at else it.message) for it in others}
    same = frozenset(others)
    hits = tuple(
        it if it in same else it._replace(edits=())
        for it in meant.hits
        if (it.at, "" if it.at else it.message) in places or slips.are_in(it)
    )
    both = sum(not slips.are_in(it) for it in hits)
    is_certain = len(hits) == len(meant.hits) and both == len(others)
    hits = (*of_slips, *hits)
    verdict = Verdict.FAIL if hits else Verdict.PASS
    if is_certain:
        known = written if written.partial else meant
        return replace(known, verdict=verdict, hits=hits)
    verdict = verdict if hits else Verdict.NOT_EVALUATED
    reason = f"the result depends on {_misspelt(meant.rule, slips)}"
    return replace(meant, verdict=verdict, hits=hits, reason=reason, partial=True)


def _blamed(
    written: Sequence[RuleOutcome], found: Sequence[RuleOutcome], slips: _Slips
) -> Mapping[At, Severity]:
    """The places of faults from which unreported errors or warnings probably follow, with the worst of them.

    They are in an object that the finding is about, or in objects of a kind that its rule reads.
    """
    by_document: dict[int, list[At]] = {}
    for at, slip in slips.places.items():
        by_document.setdefault(slip.object.at.document, []).append(at)
    blamed: dict[At, Severity] = {}
    for one, it in sorted(zip(written, found, strict=True), key=lambda both: both[0].rule.severity):
        severity = one.rule.severity
        if severity is Severity.INFO or len(it.hits) >= len(one.hits):
            continue
        kept, read = {hit.at for hit in it.hits}, _read(one.rule)
        of_kinds = [at for at, slip in slips.places.items() if slip.kind in read]
        for hit in (each for each in one.hits if each.at not in kept):
            about = {at.document for at in (hit.at, *hit.related) if at is not None}
            near = [at for document in about for at in by_document.get(document, ())]
            if not near:
                blamed.update(dict.fromkeys(of_kinds, severity))
                of_kinds = []  # all of them are blamed already
            blamed.update(dict.fromkeys(near, severity))
    return blamed


def _raised(found: RuleOutcome, blamed: Mapping[At, Severity]) -> RuleOutcome:
    """The outcome, in which hits about the blamed places are as severe as what follows from them."""
    own = found.rule.severity
    worst = [max((blamed.get(it.at, own) for it in hit.meant), default=own) for hit in found.hits]
    if all(it <= own for it in worst):
        return found
    hits = tuple(
        hit if it <= (hit.severity or own) else hit._replace(severity=it)
        for hit, it in zip(found.hits, worst, strict=True)
    )
    return replace(found, hits=hits)


def _read(rule: ObjectRule) -> frozenset[GroupKind]:
    """The kinds that a rule reads."""
    return kinds.judged(rule) | kinds.looked_up(rule)


def _misspelt(rule: ObjectRule, slips: _Slips) -> str:
    """The misspelled places of objects that a rule reads."""
    read = _read(rule)
    every = list(slips.places.values())
    used = [it for it in every if it.kind in read] or every
    more = f" or {counted(len(used) - 1, 'other fault')}" if used[1:] else ""
    return f"{used[0].name} of {used[0].object}{more}"


@contextmanager
def _begun(rules: Sequence[ObjectRule], facts: Facts) -> Iterator[Callable[[], list[RuleOutcome]]]:
    """Yields a function that returns the outcomes. For many objects, a second process begins at once."""
    run_one = partial(_run, facts)
    if len(facts.cluster.objects) < MANY or not processes.usable():
        yield lambda: [run_one(rule) for rule in rules]
        return
    from policygen.lint import parallel  # noqa: PLC0415 - it imports pickle: 2 ms

    with parallel.begun(run_one, rules) as outcomes:
        yield outcomes


def _run(facts: Facts, rule: ObjectRule) -> RuleOutcome:
    seen = facts.cluster.seen
    missed = _missed(rule, facts, seen) if seen else ()
    if not rule.holds(facts.target):
        return RuleOutcome(rule, Verdict.VACUOUS, "the rule does not apply to the target versions")
    outcome = _of_cluster(rule, seen, missed) if seen else None
    outcome = outcome or _of_input(rule, facts, missed)
    if outcome is not None:
        return outcome
    try:
        hits = tuple(_hits(rule, facts))
    except (_UnknownError, NotEvaluatedError) as unknown:
        hits = unknown.hits if isinstance(unknown, NotEvaluatedError) else ()
        verdict = Verdict.FAIL if hits else Verdict.NOT_EVALUATED
        missed = missed if hits else ()
        too_large = isinstance(unknown, TooLargeError)
        return RuleOutcome(
            rule, verdict, str(unknown), hits, missed, partial=True, too_large=too_large
        )
    except Exception as error:  # noqa: BLE001 - any exception is a bug of one rule
        return RuleOutcome(rule, Verdict.CRASHED, "".join(format_exception(error)))
    if hits:
        return RuleOutcome(rule, Verdict.FAIL, hits=hits, missed=missed)
    return _unread(rule, seen, missed) if seen and missed else RuleOutcome(rule, Verdict.PASS)


class _UnknownError(Exception):
    """A rule uses an invalid field to check other objects."""


def _hits(rule: ObjectRule, facts: Facts) -> Sequence[Hit]:
    """The hits of a rule, without those that depend on an invalid field.

    The intended value of an invalid field is unknown. Hits of a rule that did not read
    it are valid. A rule that read it runs again without the object. Raises _UnknownError if the
    rule uses the field to check other objects, or if no object is left that it could check.
    """
    cluster = facts.cluster
    hits, read = _checked(rule, facts)
    skipped = read
    if read:
        hits, read = _checked(rule, replace(facts, cluster=cluster.without(read)))
    if read:  # the rule read invalid fields of other objects
        skipped = frozenset(it.at for it, _ in cluster.invalid_fields)
        hits, _ = _checked(rule, replace(facts, cluster=cluster.without(skipped)))
    if skipped and not hits:
        judged = {it.at for it in cluster.objects if it.kind in rule.judges}
        if judged and judged <= skipped:
            raise _UnknownError(_unknown(cluster, judged))
    return hits


def _checked(rule: ObjectRule, facts: Facts) -> tuple[Sequence[Hit], Roots]:
    """The hits of a rule, and the objects whose invalid fields it read."""
    accesses = facts.cluster.accesses
    accesses.take()
    hits: list[Hit] = []
    try:
        for hit in rule.check(facts):
            hits.append(hit)  # noqa: PERF402 - those before an exception are kept
    except Exception as error:
        read = accesses.take()
        if isinstance(error, NotEvaluatedError):
            error.hits = tuple(hits)
        if not read:
            raise  # otherwise the rule relied on the type of an invalid field
    else:
        read = accesses.take()
    if not read:
        return hits, read
    consulted = kinds.consulted(rule)
    for obj, path in facts.cluster.invalid_fields:
        kind = GroupKind(obj.group, obj.kind)
        kind = CONFIG_MAP if kind in kinds.FILES else kind
        if obj.at in read and kind in consulted:
            raise _UnknownError(f"{dotted(path)} of {obj} could not be read")
    return hits, read


def _unknown(cluster: Cluster, objects: Collection[At]) -> str:
    """The first invalid field of some objects."""
    first = ((it, path) for it, path in cluster.invalid_fields if it.at in objects)
    obj, path = next(first)
    return f"{dotted(path)} of {obj} could not be read"


def _of_cluster(rule: ObjectRule, seen: Seen, missed: Sequence[GroupKind]) -> RuleOutcome | None:
    """The outcome of a rule that cannot run, because of what was read from the cluster; else None."""
    accepted = rule.family is Family.INVALID and not rule.may_exist
    if accepted and not kinds.is_of_files(rule):
        return RuleOutcome(
            rule,
            Verdict.VACUOUS,
            "the rule is not needed: the API server has already checked these objects",
        )
    if Need.STATE in rule.needs:
        reason = "the rule is not needed: it compares manifests with what they are applied to"
        return RuleOutcome(rule, Verdict.VACUOUS, reason)
    if not kinds.looked_up(rule).isdisjoint(missed):
        return _unread(rule, seen, missed)
    if seen.namespaces and (others := kinds.elsewhere(rule)):
        where = ", ".join(seen.namespaces)
        return RuleOutcome(
            rule,
            Verdict.NOT_EVALUATED,
            f"{min(others).kind} objects were read only in these namespaces: {where}",
        )
    return None


def _of_input(rule: ObjectRule, facts: Facts, missed: Sequence[GroupKind]) -> RuleOutcome | None:
    """The outcome of a rule that cannot run, because its input is missing; else None."""
    seen = facts.cluster.seen
    # Rules that compare a cluster with a spec also run if the cluster has no objects.
    empty = Need.SPEC not in rule.needs or Need.SPEC not in facts.given
    if empty and (nothing := without_objects(rule, facts.cluster.kinds)):
        return _unread(rule, seen, missed) if seen and missed else nothing
    if empty and not facts.cluster.objects:
        return RuleOutcome(rule, Verdict.VACUOUS, "the input contains no objects")
    if not rule.needs <= facts.given:
        lacking = [need for need in Need if need in rule.needs and need not in facts.given]
        if Need.SPEC in lacking and seen and seen.redacted:
            reason = "the snapshot is redacted: its names are hashes, so policygen cannot compare the snapshot with a spec"
            lacks = ("readable names (the snapshot is redacted)",)
            return RuleOutcome(rule, Verdict.NOT_EVALUATED, reason, lacks=lacks)
        missing = tuple(need.value for need in lacking)
        reason = f"the input lacks: {'; '.join(missing)}"
        return RuleOutcome(rule, Verdict.NOT_EVALUATED, reason, lacks=missing)
    return _of_state(rule, facts)


def _of_state(rule: ObjectRule, facts: Facts) -> RuleOutcome | None:
    """The outcome of a rule about manifests that needs unread objects of their cluster; else None."""
    seen = facts.state.seen if facts.state else None
    if facts.state is None or seen is None:
        return None
    looked_up = kinds.looked_up(rule)
    missed = sorted(looked_up - seen.read - seen.unserved)
    if missed:
        return _unread(rule, seen, missed)
    if not seen.namespaces or looked_up.isdisjoint(kinds.in_namespaces()):
        return None
    used = {it.namespace for it in facts.cluster.objects if it.at not in facts.cluster.context}
    others = sorted(used - {"", *seen.namespaces})
    if not others and not kinds.elsewhere(rule):
        return None
    where = ", ".join(seen.namespaces)
    reason = f"objects of {facts.state.shown} were read only in these namespaces: {where}"
    return RuleOutcome(rule, Verdict.NOT_EVALUATED, reason)


def without_objects(rule: ObjectRule, kinds: Collection[str]) -> RuleOutcome | None:
    """The outcome of a rule if objects of these kinds only give it nothing to check; else None."""
    if not rule.judges or not set(rule.judges).isdisjoint(kinds):
        return None
    return RuleOutcome(rule, Verdict.VACUOUS, f"the input contains no {' or '.join(rule.judges)}")


def _missed(rule: ObjectRule, facts: Facts, seen: Seen) -> tuple[GroupKind, ...]:
    """The kinds that a rule reads and that were not read completely, sorted."""
    rendered = facts.rendered if rule.family is Family.DRIFT else None
    missed = kinds.to_read([rule]) | (rendered.kinds if rendered else frozenset())
    missed -= seen.read | seen.unserved
    if rendered and rendered.not_requested(facts.cluster):
        missed |= {CONFIG_MAP}
    return tuple(sorted(missed))


def _unread(rule: ObjectRule, seen: Seen, missed: Sequence[GroupKind]) -> RuleOutcome:
    gaps = {(gap.group, gap.kind): str(gap) for gap in reversed(seen.gaps)}
    first = gaps.get(missed[0], f"{missed[0]} was not read")
    if len(missed) > 1:
        first = f"{first}; {counted(len(missed) - 1, 'other kind')} could not be read either"
    return RuleOutcome(rule, Verdict.NOT_EVALUATED, first, missed=tuple(missed))
