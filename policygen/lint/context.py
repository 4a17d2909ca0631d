"""Objects that rules see beside those of the input, such as what a spec renders, and never report."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from policygen.core.finding import At, Hit, Verdict
from policygen.kubernetes.object import Object
from policygen.lint import engine
from policygen.lint.engine import RuleOutcome


def beside(rendered: Iterable[Object], given: Iterable[Object]) -> list[Object]:
    """The rendered objects that the input does not replace with an object of its own."""
    replaced = {it.identity for it in given}
    return [it for it in rendered if it.identity not in replaced]


def about(
    given: Sequence[Object], context: Iterable[Object], outcomes: Iterable[RuleOutcome]
) -> list[RuleOutcome]:
    """The outcomes for the objects of the input.

    A hit on an object of the context is dropped, since that object is checked where it is written.
    If the hit names an object of the input as a cause, both are in conflict: the hit moves there.
    """
    by_root = {(it.at.document, it.at.path): it for it in context}
    kinds = frozenset(it.kind for it in given)
    return [_about(outcome, by_root, kinds) for outcome in outcomes]


def _about(
    outcome: RuleOutcome,
    context: Mapping[tuple[int, tuple[str | int, ...]], Object],
    kinds: Collection[str],
) -> RuleOutcome:
    hits = tuple(_moved(outcome.hits, context))
    if hits:
        return replace(outcome, hits=hits)
    if outcome.verdict in {Verdict.CRASHED, Verdict.VACUOUS}:
        return outcome
    nothing = engine.without_objects(outcome.rule, kinds)
    if nothing is None and outcome.verdict is Verdict.FAIL:
        return RuleOutcome(outcome.rule, Verdict.PASS)
    return nothing or outcome


def _moved(
    hits: Iterable[Hit], context: Mapping[tuple[int, tuple[str | int, ...]], Object]
) -> Iterator[Hit]:
    def owner(at: At | None) -> Object | None:
        """The object of the context at a place."""
        if at is None:
            return None
        roots = ((at.document, at.path[:length]) for length in range(len(at.path) + 1))
        return next((context[root] for root in roots if root in context), None)

    for hit in hits:
        rendered = owner(hit.at)
        causes = [at for at in hit.related if owner(at) is None]
        if hit.at is None:
            if causes or not hit.related:
                yield hit
        elif rendered is None:
            yield hit._replace(edits=() if any(owner(it.at) for it in hit.edits) else hit.edits)
        elif causes:
            message = f"{hit.message} (the spec renders {rendered})"
            yield Hit(hit.rule, message, causes[0], (hit.at, *causes[1:]))
