"""Objects that rules see beside manifests and never report: what a spec renders, what a cluster has."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import At, Hit, Verdict
from policygen.core.names import DEFAULT_NAMESPACE
from policygen.kubernetes.cluster import KUEUE, VOLCANO
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import TEMPLATES, TRAIN_JOB, is_checked
from policygen.lint import engine
from policygen.lint.engine import RuleOutcome

_OF_WORKLOADS = {*TEMPLATES, (KUEUE, "Workload"), (VOLCANO, "PodGroup")}
_Roots = Mapping[tuple[int, tuple[str | int, ...]], tuple[str, Object]]
"""The objects of the contexts with their origin, by document and path."""


class ContextObjects(Struct, frozen=True, eq=False):
    """The objects of one origin."""

    origin: str
    """Why they exist, as the begin of a sentence: `the spec renders`."""
    objects: Sequence[Object]


def beside(others: Iterable[Object], given: Sequence[Object]) -> list[Object]:
    """The other objects that the given ones do not replace by their names, or as the JobSet of a TrainJob."""
    replaced = {it.identity for it in given}
    replaced |= {
        ("jobset.x-k8s.io", "JobSet", it.namespace, it.name)
        for it in given
        if (it.group, it.kind) == TRAIN_JOB
    }
    replaced |= {
        (it.group, it.kind, DEFAULT_NAMESPACE, it.name) for it in given if not it.namespace
    }
    return [it for it in others if it.identity not in replaced]


def lasting(objects: Iterable[Object]) -> Iterator[Object]:
    """The objects of a cluster that stay if manifests are applied.

    Without finished workloads, and without what controllers make of workloads: a manifest may replace
    the workload.
    """
    for it in objects:
        if (it.group, it.kind) not in _OF_WORKLOADS or is_checked(it):
            yield it


def about(
    given: Sequence[Object], contexts: Iterable[ContextObjects], outcomes: Iterable[RuleOutcome]
) -> list[RuleOutcome]:
    """The outcomes for the objects of the input.

    A hit on an object of a context is dropped, since that object is checked where it is written.
    If the hit names an object of the input as a cause, both are in conflict: the hit moves there.
    """
    by_root = {
        (it.at.document, it.at.path): (each.origin, it) for each in contexts for it in each.objects
    }
    kinds = frozenset(it.kind for it in given)
    return [_about(outcome, by_root, kinds) for outcome in outcomes]


def _about(
    outcome: RuleOutcome,
    context: _Roots,
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


def _moved(hits: Iterable[Hit], context: _Roots) -> Iterator[Hit]:
    def owner(at: At | None) -> tuple[str, Object] | None:
        """The object of a context at a place, and its origin."""
        if at is None:
            return None
        roots = ((at.document, at.path[:length]) for length in range(len(at.path) + 1))
        return next((context[root] for root in roots if root in context), None)

    for hit in hits:
        owned = owner(hit.at)
        causes = [at for at in hit.related if owner(at) is None]
        if hit.at is None:
            if causes or not hit.related:
                yield hit
        elif owned is None:
            yield hit._replace(edits=() if any(owner(it.at) for it in hit.edits) else hit.edits)
        elif causes:
            message = f"{hit.message} ({owned[0]} {owned[1]})"
            related = (hit.at, *causes[1:])
            yield Hit(hit.rule, message, causes[0], related, severity=hit.severity)
