"""Pods must run beside other pods that do not exist, so they stay Pending."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from policygen.core.finding import Path
from policygen.core.quoting import bare, listed, some
from policygen.core.suggest import Names
from policygen.kubernetes.core import LabelSelector
from policygen.kubernetes.pod_terms import PodTerm
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.pod_partners import (
    Partners,
    UnmetAffinity,
    partners,
    unmet_affinities,
)
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_PENDING = "so its pods stay Pending"
Advice = tuple[Path, str]
"""The field below the term that a user changes, and what to write."""


def check(facts: Facts) -> Hits:
    """A pod that its own terms select may be the first one, so such pods are not reported.

    Source: see lint/core/pod_partners.py.
    """
    for it in facts.derive(unmet_affinities):
        known = facts.derive(partners)
        if it.term is None:
            fault, path, advice = _of_all(it)
        elif it.circle:
            fault, path, advice = _of_circle(it)
        else:
            path, advice = next(_advice(known, facts, it.term))
            fault = f"must run beside pods {_selected(it.term)}, but {_missing(known, it.term)}"
        at = it.pods.template.at.to("spec", *it.path, *path)
        others = tuple(other.workload.at for other in it.circle)
        yield Hit(RULE, f"{it.pods.workload} {fault}, {_PENDING}; {advice}", at, others)


def _of_all(it: UnmetAffinity) -> tuple[str, Path, str]:
    count = len(it.pods.together)
    fault = f"requires {count} terms of podAffinity, and only pods that match all of them count, but no pod does"
    return fault, (), "write terms that select the same pods, or remove all terms but one"


def _of_circle(it: UnmetAffinity) -> tuple[str, Path, str]:
    names = listed([str(other.workload) for other in it.circle], "and")
    fault = (
        f"must run beside pods of {names}, which in turn must run beside pods that wait for them"
    )
    return fault, (), "remove the required podAffinity of one of them"


def _selected(term: PodTerm) -> str:
    """The pods that a term selects: `with app=cache in namespace search`."""
    where = []
    if names := sorted(it for it in term.namespaces if it):
        where.append(f"namespace{'s' if len(names) > 1 else ''} {some(names, 'namespace')}")
    if term.namespace_selector is not None:
        where.append(f"namespaces with {_labels(term.namespace_selector)}")
    inside = f" in {' or '.join(where)}" if where else ""
    if term.selector is None:
        return f"that its podAffinity selects{inside}"
    return f"with {_labels(term.selector)}{inside}"


def _labels(selector: LabelSelector) -> str:
    parts = [f"{key}={bare(value)}" for key, value in selector.match_labels.items()]
    for it in selector.match_expressions:
        values = f" ({', '.join(map(bare, it.values))})" if it.values else ""
        parts.append(f"{it.key} {it.operator}{values}")
    return " and ".join(parts) or "any labels"


def _missing(known: Partners, term: PodTerm) -> str:
    if term.selector is None:
        return "the term has no labelSelector and selects no pod"
    outside = known.elsewhere(term)
    if outside:
        return f"such pods exist only in {_in(outside)}"
    return "no such pod exists"


def _in(names: Sequence[str]) -> str:
    return f"namespace{'s' if len(names) > 1 else ''} {some(names, 'namespace')}"


def _advice(known: Partners, facts: Facts, term: PodTerm) -> Iterator[Advice]:
    """Changes by which the term selects pods, the nearest first."""
    if term.selector is None:
        yield (), "write a labelSelector"
        return
    renamed = known.meant_namespace(term)
    if renamed is not None:
        yield ("namespaces",), f'did you mean namespace "{renamed[1]}"?'
    yield from _of_namespaces(known, facts, term)
    outside = known.elsewhere(term)
    if outside:
        yield (), f"add {_in(outside[:1])} to the namespaces of the term"
    inside = [name for name in known.namespaces if known.may_be_in(term, name)]
    yield from _of_labels(known, term, inside)
    yield ("labelSelector",), "write the labels of existing pods, or remove the term"


def _of_namespaces(known: Partners, facts: Facts, term: PodTerm) -> Iterator[Advice]:
    """A label of namespaces that looks misspelled."""
    selector = term.namespace_selector
    for key, value in selector.match_labels.items() if selector is not None else ():
        values = Names(it.labels[key] for it in facts.cluster.namespaces if key in it.labels)
        meant = values.meant(value)
        if selector is not None and meant and value not in values:
            other = LabelSelector({**selector.match_labels, key: meant}, selector.match_expressions)
            changed = replace(term, namespace_selector=other)
            if next(known.selected([changed]), None) is not None:
                yield ("namespaceSelector", "matchLabels", key), f'did you mean "{meant}"?'


def _of_labels(known: Partners, term: PodTerm, inside: Sequence[str]) -> Iterator[Advice]:
    """A label of pods that looks misspelled."""
    selector = term.selector or LabelSelector()
    for key, value in selector.match_labels.items():
        values = known.values(key, inside)
        for meant in values.similar(value):
            other = {**selector.match_labels, key: meant}
            changed = LabelSelector(other, selector.match_expressions)
            if next(known.selected([replace(term, selector=changed)]), None) is not None:
                yield ("labelSelector", "matchLabels", key), f'did you mean "{meant}"?'
    for i, it in enumerate(selector.match_expressions):
        for value in it.values if it.operator == "In" else ():
            for meant in known.values(it.key, inside).similar(value):
                other_values = (*(each for each in it.values if each != value), meant)
                expressions = list(selector.match_expressions)
                expressions[i] = replace(it, values=other_values)
                changed = LabelSelector(selector.match_labels, tuple(expressions))
                if next(known.selected([replace(term, selector=changed)]), None) is not None:
                    at = ("labelSelector", "matchExpressions", i, "values", it.values.index(value))
                    yield at, f'did you mean "{meant}"?'


RULE = ObjectRule(
    "pod-affinity-matches-no-pod",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Select the labels and namespaces of existing pods in podAffinity.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("Configuration", "Namespace"),
)
