"""A constraint that separates pods selects no pod, so it has no effect."""

from collections.abc import Iterator

from policygen.core.finding import Path
from policygen.core.quoting import as_yaml
from policygen.core.suggest import Names
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.pod_terms import (
    PodTerm,
    TermKind,
    required_terms,
    selector_of,
    with_labels,
)
from policygen.kubernetes.untyped import entries, text
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.pod_partners import TemplatePods, is_open, is_valid, partners
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The scheduler counts only pods that the labelSelector selects, and without one it counts none.

    Of required anti-affinities, only those that select the own pods except for a misspelled value: they can
    be meant for pods that do not exist yet.
    Source: pkg/scheduler/framework/plugins/{podtopologyspread,interpodaffinity}/filtering.go of
    Kubernetes 1.36.3.
    """
    templates = (template for it in facts.cluster.workloads for template in it.templates)
    if not any(it.spec.topology_spread_constraints or it.spec.affinity for it in templates):
        return
    known = facts.derive(partners)
    for pods in known.pods:
        if pods.template.replicas == 0:
            continue
        for path, term in _terms(pods):
            if next(known.selected([term]), None) is not None or is_open(facts, term):
                continue
            wrong = next(_differing(pods, term), None)
            spread = path[0] == "topologySpreadConstraints"
            if wrong is None and not spread:
                continue
            what = "spread constraint" if spread else "required podAntiAffinity"
            advice, at = "select the labels of these pods in labelSelector", path
            if wrong is not None:
                key, value = wrong
                advice = f"write {key}: {as_yaml(value)}"
                at = (*path, "labelSelector", "matchLabels", key)
            yield Hit(
                RULE,
                f"a {what} of {pods.workload} has no effect, because its labelSelector selects no pod; {advice}",
                pods.template.at.to("spec", *at),
            )


def _terms(pods: TemplatePods) -> Iterator[tuple[Path, PodTerm]]:
    """The constraints of pods, without those with an invalid field, which other rules report."""
    spec, namespace = pods.template.spec, pods.workload.namespace
    for i, it in enumerate(spec.topology_spread_constraints):
        if is_valid(it):
            selector = with_labels(selector_of(it.get("labelSelector")), it, pods.labels)
            key, own = text(it, "topologyKey"), frozenset({namespace})
            term = PodTerm(TermKind.APART, key, 0, selector, own, None)
            yield ("topologySpreadConstraints", i), term
    if all(map(is_valid, entries(spec.affinity, TermKind.APART.value, REQUIRED))):
        yield from required_terms(spec.affinity, TermKind.APART, namespace, pods.labels)


def _differing(pods: TemplatePods, term: PodTerm) -> Iterator[tuple[str, str]]:
    """A label of the selector whose value looks like a misspelling of that of the own pods."""
    for key, value in term.selector.match_labels.items() if term.selector else ():
        own = pods.labels.get(key)
        if own and own != value and Names([own]).meant(value):
            yield key, own


RULE = ObjectRule(
    "spread-matches-no-pod",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Select the labels of the pods in labelSelector.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("Configuration", "Namespace"),
)
