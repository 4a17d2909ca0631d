"""The rules about what a schema refuses: one row for each reason.

A row is all that differs between these rules. Most are about faults that a spec can have too: their names
and texts are those of `spec.rules`. Some also report what a server's code or webhook refuses
for the same reason, in `core.code_refusals`. Their pages are in `pages`.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from policygen.api_validation.refusal import Reason
from policygen.core.finding import At, Edit, FaultAt, Hit, Verb, at_path, dotted
from policygen.core.names import HOSTNAME
from policygen.core.quoting import listed, quoted
from policygen.core.rule import Family, Rule, Severity
from policygen.core.suggest import Names, suggest
from policygen.core.tolerations import EFFECTS
from policygen.kubernetes.untyped import mapping, numbered, text
from policygen.lint.core import code_refusals
from policygen.lint.core.known_names import with_near_name
from policygen.lint.core.server_refusals import FoundRefusal, refusals
from policygen.lint.kueue.cohorts import joined
from policygen.lint.kueue.probable_quotas import probable_quotas
from policygen.lint.rule import Facts, Fix, ObjectRule, shared, written
from policygen.lint.volcano import hierarchy
from policygen.spec import rules as spec


class _Row(Struct, frozen=True, kw_only=True):
    """A rule about the refusals of one reason."""

    rule: Rule
    """Its name, severity and texts."""
    reason: Reason
    """The refusals that it reports."""
    family: Family = Family.INVALID
    known_releases: bool = False
    """Whether it skips kinds that may be different in the target release."""
    further: Callable[[Facts], Iterator[FaultAt]] | None = None
    """Faults that are refused for the same reason, but not by the schema."""
    fix: Fix | None = None


_ROWS = (
    _Row(
        rule=Rule(
            "crd-rule-broken",
            Severity.ERROR,
            Family.INVALID,
            "An object breaks a rule that its CRD defines in CEL",
            "Correct the fields that the finding names.",
        ),
        reason=Reason.CRD_RULE,
    ),
    _Row(rule=spec.DUPLICATE_ENTRY, reason=Reason.DUPLICATE_ENTRY, fix=Fix.SAFE),
    _Row(
        rule=Rule(
            "invalid-annotation",
            Severity.ERROR,
            Family.INVALID,
            "An annotation has a key that is not valid, or the annotations of an object are too long",
            "Correct the key that the finding names, or shorten the annotations.",
            aliases=("annotation-refused",),
        ),
        reason=Reason.ANNOTATION,
        further=code_refusals.annotations,
    ),
    _Row(
        rule=Rule(
            "every-update-refused",
            Severity.ERROR,
            Family.INERT,
            "A webhook corrects a value when the object is created, but the server refuses every update",
            "Write the value that the finding proposes.",
        ),
        reason=Reason.UPDATE,
        further=hierarchy.refused_later,
        family=Family.INERT,
    ),
    _Row(rule=spec.INVALID_LABEL, reason=Reason.LABEL, further=code_refusals.labels),
    _Row(rule=spec.INVALID_NAME, reason=Reason.NAME),
    _Row(rule=spec.INVALID_VALUE, reason=Reason.FORMAT, further=code_refusals.patterns),
    _Row(
        rule=spec.MISSING_FIELD,
        reason=Reason.MISSING_FIELD,
        further=code_refusals.missing_fields,
    ),
    _Row(rule=spec.OUT_OF_RANGE, reason=Reason.RANGE),
    _Row(
        rule=Rule(
            "server-side-apply-refused",
            Severity.WARNING,
            Family.INVALID,
            "Server-side apply refuses the object, although the server accepts it on create",
            "Remove the field or entry that the finding names.",
        ),
        reason=Reason.SERVER_SIDE_APPLY,
        fix=Fix.SAFE,
    ),
    _Row(
        rule=spec.UNKNOWN_FIELD,
        reason=Reason.UNKNOWN_FIELD,
        known_releases=True,
        fix=Fix.UNSAFE,
    ),
    _Row(
        rule=spec.UNSUPPORTED_VALUE,
        reason=Reason.VALUE,
        known_releases=True,
        fix=Fix.SAFE,
    ),
    _Row(rule=spec.WRONG_LENGTH, reason=Reason.LENGTH),
    _Row(rule=spec.WRONG_TYPE, reason=Reason.TYPE, fix=Fix.SAFE),
)


_NARROWER = {("PriorityClass", "value"): "priority-class-refused"}
"""The rules that report a smaller range of a field than its schema has, by kind and field."""


def _setting(facts: Facts, refusal: FoundRefusal) -> tuple[Edit, ...]:
    """The setting of a ClusterQueue that another one needs, or the order of levels that a Topology needs."""
    if "lowest level" in refusal.message:
        levels = [
            (i, text(it, "nodeLabel")) for i, it in numbered(refusal.object.data, "spec", "levels")
        ]
        names = sorted((name for _, name in levels), key=HOSTNAME.__eq__)
        return tuple(
            edit
            for (i, _), name in zip(levels, names, strict=True)
            for edit in written(refusal.object.at.to("spec", "levels", i, "nodeLabel"), name)
        )
    queue = facts.cluster.cluster_queues.get(refusal.object.name)
    if queue is None:
        return ()
    if "when cohort is empty" in refusal.message:
        return joined(facts.cluster, queue)
    if "reclaimWithinCohort=Never" not in refusal.message:
        return ()
    at = queue.at.to("spec", "preemption", "reclaimWithinCohort")
    is_there = "reclaimWithinCohort" in mapping(refusal.object.data, "spec", "preemption")
    return (Edit(Verb.REWRITE if is_there else Verb.ADD, at, "Any"),)


_WORDS = {"operator": ("Equal", "Exists"), "effect": EFFECTS}
"""The words that a CRD of Kueue accepts in taints and tolerations, which its schema does not list."""


def _misspelt_words(refusal: FoundRefusal) -> Iterator[tuple[At, str, Names]]:
    """The words in taints and tolerations that break a rule of the CRD, each with the valid ones."""
    if "supported t" not in refusal.message:
        return
    value = at_path(refusal.object.data, refusal.at.path[len(refusal.object.at.path) :])
    for i, entry in enumerate(value if isinstance(value, list) else [value]):
        for field, words in _WORDS.items():
            word = entry.get(field)
            if isinstance(word, str) and word and word not in words:
                at = refusal.at / i if isinstance(value, list) else refusal.at
                yield at / field, word, Names(words)


def _of_crd(rule: Rule, facts: Facts, refusal: FoundRefusal) -> Iterator[Hit]:
    words = list(_misspelt_words(refusal))
    for at, word, names in words:
        message = f"{refusal.object}: {at.path[-1]} {quoted(word)} is not supported; {suggest(word, names)}"
        yield Hit(rule, message, at, meant=written(at, names.meant(word)))
    if not words:
        quotas = facts.cluster.derive(probable_quotas).get(refusal.object.at)
        meant = quotas or _setting(facts, refusal)
        yield Hit(rule, refusal.message, refusal.at, meant=meant)


_INCOMPLETE = (Reason.MISSING_FIELD, Reason.LENGTH, Reason.FORMAT, Reason.UPDATE)
"""The reasons for which a ClusterQueue can lack quota."""


def _meant(row: _Row, facts: Facts, refusal: FoundRefusal) -> tuple[Edit, ...]:
    """The edits that a refused object probably means."""
    if row.reason in _INCOMPLETE:
        return facts.cluster.derive(probable_quotas).get(refusal.object.at, ())
    value = at_path(refusal.object.data, refusal.at.path[len(refusal.object.at.path) :])
    if row.reason is Reason.RANGE and isinstance(value, str) and value.endswith("m"):
        return written(refusal.at, value[:-1])  # 8m GPUs instead of 8
    return ()


def _is_guarantee(refusal: FoundRefusal) -> bool:
    """Whether an unknown field is a resource in the guarantee of a Queue, instead of in `resource`."""
    *parent, name = refusal.at.path
    is_resource = name in ("cpu", "memory") or "/" in str(name)
    return is_resource and refusal.object.kind == "Queue" and parent[-2:] == ["spec", "guarantee"]


def _of_amounts(rule: Rule, found: Sequence[FoundRefusal]) -> Hit:
    """One hit for all amounts of a guarantee that are outside of `resource`."""
    names = [quoted(str(it.at.path[-1])) for it in found]
    fields, are, them = ("fields", "are", "them") if names[1:] else ("field", "is", "it")
    message = (
        f"{found[0].object}: {fields} {listed(names, 'and')} {are} unknown in guarantee; "
        f"write {them} in guarantee.resource"
    )
    return Hit(rule, message, found[0].at, tuple(it.at for it in found[1:]))


def _rule(row: _Row) -> ObjectRule:
    """The rule of a row. Source: the schemas that real servers serve, `schemas/cluster`."""

    def check(facts: Facts) -> Iterator[Hit]:
        omitted: dict[At, list[FoundRefusal]] = {}
        for refusal in refusals(facts, row.reason, known_releases=row.known_releases):
            if row.reason is Reason.UNKNOWN_FIELD and _is_guarantee(refusal):
                parent = At(refusal.at.document, refusal.at.path[:-1])
                omitted.setdefault(parent, []).append(refusal)
                continue
            field = refusal.object.kind, dotted(refusal.at.path)
            if row.reason is Reason.RANGE and _NARROWER.get(field) in facts.run:
                continue
            if row.reason is Reason.CRD_RULE:
                yield from _of_crd(rule, facts, refusal)
                continue
            message = with_near_name(facts.cluster, refusal)
            meant = _meant(row, facts, refusal)
            yield Hit(rule, message, refusal.at, edits=refusal.edits, meant=meant)
        for found in omitted.values():
            yield _of_amounts(rule, found)
        for at, message in row.further(facts) if row.further else ():
            yield Hit(rule, message, at)

    rule = ObjectRule(*shared(row.rule, row.family), judges=(), check=check, fix=row.fix)
    return rule


RULES = tuple(map(_rule, _ROWS))
"""By name."""
