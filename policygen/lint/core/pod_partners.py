"""The pods that the required affinities of pods select, and affinities that no pod can meet.

Source: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go of Kubernetes 1.36.3: a pod counts
only if it matches all required terms (updateWithAffinityTerms), and a pod that matches its own terms may
be the first one (satisfyPodAffinity).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Path
from policygen.core.label_grammar import key_fault
from policygen.core.suggest import Names
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import LabelSelector
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.object import Object
from policygen.kubernetes.pod_labels import pod_labels
from policygen.kubernetes.pod_terms import PodTerm, TermKind, required_terms
from policygen.kubernetes.untyped import entries, mapping, text
from policygen.kubernetes.workloads import TEMPLATES, PodTemplate, Workload
from policygen.lint.core.missing_namespaces import existing_namespaces
from policygen.lint.core.selectors import faults, of_data
from policygen.lint.rule import Facts, Need

_BY_USERS = ("app.kubernetes.io", "helm.sh")
"""Domains of labels that controllers of Kubernetes do not add."""
_ADDED = frozenset(
    {
        "controller-revision-hash",
        "controller-uid",
        "group-name",
        "job-name",
        "job-role",
        "pod-template-generation",
        "pod-template-hash",
        "replica-index",
        "replica-type",
    }
)
"""Labels without a domain that controllers add."""
_NATIVE = ("", "apps", "batch")
"""API groups whose controllers add no labels of these domains."""
_BUILT_IN = ("k8s.io", "policygen.dev", "volcano.sh")
"""The ends of API groups whose other kinds create no pods."""
_OPERATORS = ("sparkoperator.k8s.io", "trainer.kubeflow.org")
Terms = tuple[tuple[Path, PodTerm], ...]


class TemplatePods(Struct, frozen=True, eq=False):
    """The pods of a template."""

    workload: Workload
    template: PodTemplate
    labels: Mapping[str, str]
    """Those with known values."""
    together: Terms
    """The required terms of their podAffinity."""

    def may_have(self, key: str) -> bool:
        """Whether a controller may add this label."""
        of_operator = "/" in key and self.workload.object.group not in _NATIVE
        return of_operator or _is_added(key)


class UnmetAffinity(Struct, frozen=True, eq=False):
    """Pods that never start because of their required affinity to other pods."""

    pods: TemplatePods
    path: Path
    """The term that selects no pod, or the list of the terms."""
    term: PodTerm | None
    """That term; None: each term selects pods, but no pod matches all of them."""
    circle: tuple[TemplatePods, ...] = ()
    """Other pods that wait for these pods in turn: their affinity selects only each other."""


def partners(facts: Facts) -> "Partners":
    """The indexes of all pods; use it with `facts.derive`."""
    return Partners(facts.cluster)


def unmet_affinities(facts: Facts) -> tuple[UnmetAffinity, ...]:
    """The affinities that no pod of the input meets; use it with `facts.derive` and Need.WHOLE."""
    affinities = (it.spec.affinity for work in facts.cluster.workloads for it in work.templates)
    if not any(it and entries(it, TermKind.TOGETHER.value, REQUIRED) for it in affinities):
        return ()
    return tuple(_Unmet(facts).found())


def is_open(facts: Facts, term: PodTerm) -> bool:
    """Whether pods that the input does not have may match a term."""
    return facts.derive(_Unmet).is_open((term,))


def known_partners(
    facts: Facts,
) -> Iterator[tuple[TemplatePods, Path, PodTerm, tuple[TemplatePods, ...]]]:
    """The terms of required podAffinity, each with all pods that may meet it.

    Without terms that other pods than those of the input may meet, that no pod meets, or that select the
    pods themselves.
    """
    unmet: _Unmet | None = None
    affinities = (it.spec.affinity for work in facts.cluster.workloads for it in work.templates)
    if not any(it and entries(it, TermKind.TOGETHER.value, REQUIRED) for it in affinities):
        return
    known = facts.derive(partners)
    for pods in known.pods:
        for path, term in pods.together if pods.template.replicas != 0 else ():
            unmet = unmet or _Unmet(facts)
            if known.may_select(term, pods) or unmet.is_open((term,)):
                continue
            if found := tuple(known.selected([term])):
                yield pods, path, term, found


class Partners:
    """All pods of the input, by their labels."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.pods = [
            TemplatePods(workload, template, labels, _together(workload, template, labels))
            for workload in cluster.workloads
            for template in workload.templates
            for labels in (pod_labels(workload, template),)
        ]
        self.namespaces: dict[str, list[TemplatePods]] = {}
        self._by_label: dict[tuple[str, str], list[TemplatePods]] = {}
        self._of_operators: dict[str, list[TemplatePods]] = {}
        """By namespace, those to which a controller may add labels of any domain."""
        self._values: dict[tuple[str, frozenset[str]], Names] = {}
        self._elsewhere: dict[str, Sequence[str]] = {}
        for pods in self.pods:
            self.namespaces.setdefault(pods.workload.namespace, []).append(pods)
            for pair in pods.labels.items():
                self._by_label.setdefault(pair, []).append(pods)
            if pods.workload.object.group not in _NATIVE:
                self._of_operators.setdefault(pods.workload.namespace, []).append(pods)

    def selected(self, terms: Sequence[PodTerm]) -> Iterator[TemplatePods]:
        """The pods that may match all terms."""
        for pods in self._candidates(terms):
            if all(self.may_select(it, pods) for it in terms):
                yield pods

    def may_select(self, term: PodTerm, pods: TemplatePods) -> bool:
        """Whether a term selects the pods, or may do it."""
        return may_match(term.selector, pods) and self.may_be_in(term, pods.workload.namespace)

    def may_be_in(self, term: PodTerm, namespace: str) -> bool:
        """Whether a term selects pods of a namespace; an empty one is not known."""
        if namespace in term.namespaces or not namespace or "" in term.namespaces:
            return True
        selector = term.namespace_selector
        return selector is not None and selects(self._cluster, selector, namespace) is not False

    def near(self, namespace: str) -> Sequence[TemplatePods]:
        """The pods that are, or may be, in a namespace; an empty one is not known."""
        if not namespace:
            return self.pods
        return [*self.namespaces.get("", ()), *self.namespaces.get(namespace, ())]

    def values(self, key: str, namespaces: Iterable[str]) -> Names:
        """The values of a label of pods in these namespaces."""
        names = key, frozenset(namespaces)
        if names not in self._values:
            pods = [pods for name in names[1] for pods in self.namespaces.get(name, ())]
            self._values[names] = Names(it.labels[key] for it in pods if key in it.labels)
        return self._values[names]

    def elsewhere(self, term: PodTerm) -> Sequence[str]:
        """All namespaces with pods that match the labels of a term, sorted."""
        key = repr(term.selector)
        if key not in self._elsewhere:
            anywhere = replace(term, namespace_selector=LabelSelector())
            found = {it.workload.namespace for it in self.selected([anywhere])}
            self._elsewhere[key] = sorted(found)
        return self._elsewhere[key]

    def meant_namespace(self, term: PodTerm) -> tuple[str, str] | None:
        """A namespace without pods that a term names, and a similar one whose pods it would select."""
        known = self.namespaces
        for name in sorted(it for it in term.namespaces if it not in known):
            meant = Names(known).meant(name)
            if any(may_match(term.selector, pods) for pods in known.get(meant, ())):
                return name, meant
        return None

    def _candidates(self, terms: Sequence[PodTerm]) -> Iterable[TemplatePods]:
        """The pods with one of the labels, or in one of the namespaces, that the terms select: the fewest."""
        every = (*self._with_labels(terms), *self._in_namespaces(terms))
        return min(every, key=len, default=self.pods)

    def _with_labels(self, terms: Sequence[PodTerm]) -> Iterator[Sequence[TemplatePods]]:
        for term in terms:
            selector = term.selector or LabelSelector()
            either = [[pair] for pair in selector.match_labels.items()]
            either += [
                [(it.key, value) for value in dict.fromkeys(it.values)]
                for it in selector.match_expressions
                if it.operator == "In"
            ]
            for pairs in either:
                if not any(_is_added(key) for key, _ in pairs):
                    found = [pods for pair in pairs for pods in self._by_label.get(pair, ())]
                    if any("/" in key for key, _ in pairs):
                        known = {id(it) for it in found}
                        others = self._in(term, self._of_operators)
                        found += [it for it in others if id(it) not in known]
                    yield found

    def _in_namespaces(self, terms: Sequence[PodTerm]) -> Iterator[Sequence[TemplatePods]]:
        for term in terms:
            if term.namespace_selector is None and "" not in term.namespaces:
                yield self._in(term, self.namespaces)

    def _in(
        self, term: PodTerm, by_namespace: Mapping[str, Sequence[TemplatePods]]
    ) -> Sequence[TemplatePods]:
        """Those in the namespaces of a term, or all if it can select others."""
        names: Iterable[str] = ("", *sorted(term.namespaces))
        if term.namespace_selector is not None or "" in term.namespaces:
            names = by_namespace
        return [pods for name in names for pods in by_namespace.get(name, ())]


class _Unmet:
    """Finds the affinities that no pod meets."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._partners = facts.derive(partners)
        cluster, read = facts.cluster, {it.at for it in facts.cluster.workloads}
        self._foreign = {it.namespace for it in cluster.objects if _may_make_pods(it)}
        every = (it for kind in TEMPLATES for it in cluster.of(*kind))
        self._all_read = cluster.seen is not None or all(it.at in read for it in every)
        self._known: dict[str, tuple[TemplatePods, ...] | None] = {}

    def found(self) -> Iterator[UnmetAffinity]:
        first: dict[int, TemplatePods | None] = {}
        for pods, partners in self._waiting():
            first[id(pods)] = partners[0] if partners else None
            if not partners:
                yield self._unmet(pods)
        done: set[int] = set()
        for pods in self._partners.pods:
            trail: dict[int, TemplatePods] = {}
            it: TemplatePods | None = pods
            while it is not None and id(it) in first and id(it) not in done:
                if id(it) in trail:
                    break
                trail[id(it)] = it
                it = first[id(it)]
            if it is not None and id(it) in trail:
                numbers = [*trail]
                circle = [trail[number] for number in numbers[numbers.index(id(it)) :]]
                path, term = circle[0].together[0]
                yield UnmetAffinity(circle[0], path, term, tuple(circle[1:]))
            done |= trail.keys()

    def _waiting(self) -> Iterator[tuple[TemplatePods, tuple[TemplatePods, ...]]]:
        """The pods that never start, and the pods that they wait for, which never start either."""
        groups: dict[int, tuple[tuple[TemplatePods, ...], list[TemplatePods]]] = {}
        for pods in self._partners.pods:
            runs = pods.template.replicas != 0
            partners = self._waits_for(pods) if pods.together and runs else None
            if partners is not None:
                groups.setdefault(id(partners), (partners, []))[1].append(pods)
        waits = {id(it) for _, members in groups.values() for it in members}
        needing: dict[int, list[int]] = {}
        for number, (partners, _) in groups.items():
            for it in partners:
                needing.setdefault(id(it), []).append(number)
        starting = [
            number
            for number, (partners, _) in groups.items()
            if any(id(it) not in waits for it in partners)
        ]
        while starting:
            _, members = groups.pop(starting.pop(), ((), []))
            for it in members:
                starting += needing.get(id(it), ())
        for partners, members in groups.values():
            for it in members:
                yield it, partners

    def _waits_for(self, pods: TemplatePods) -> tuple[TemplatePods, ...] | None:
        """The pods that must run first, all with such an affinity; None: others do, or it is unknown."""
        terms = tuple(term for _, term in pods.together)
        if all(self._partners.may_select(it, pods) for it in terms):
            return None
        key = repr(terms)
        if key not in self._known:
            self._known[key] = self._selected(terms)
        return self._known[key]

    def _selected(self, terms: tuple[PodTerm, ...]) -> tuple[TemplatePods, ...] | None:
        found = []
        for pods in self._partners.selected(terms):
            if not pods.together:
                return None
            found.append(pods)
        return None if not found and self.is_open(terms) else (*found,)

    def is_open(self, terms: Iterable[PodTerm]) -> bool:
        """Whether pods that the input does not have may match the terms."""
        seen = self._facts.cluster.seen
        if not self._all_read:
            return True
        if seen is not None:
            return bool(seen.namespaces or seen.redacted)
        return all(it.selector is not None and self._may_have_others(it) for it in terms)

    def _may_have_others(self, term: PodTerm) -> bool:
        """Whether a term selects a namespace whose pods may not all be in the input."""
        known = self._partners.namespaces
        selector, cluster = term.namespace_selector, self._facts.cluster
        outside = [it for it in term.namespaces if it not in known]
        given = Need.NAMESPACES in self._facts.given
        if (outside or selector is not None) and not given:
            return True
        if not self._facts.derive(existing_namespaces).isdisjoint(outside):
            return True
        if selector is not None:
            found = (it.name for it in cluster.namespaces if selects(cluster, selector, it.name))
            if selector.empty or any(it not in known for it in found):
                return True
        return any(
            self._partners.may_be_in(term, it) if it else it in term.namespaces
            for it in self._foreign
        )

    def _unmet(self, pods: TemplatePods) -> UnmetAffinity:
        for path, term in pods.together:
            if len(pods.together) == 1 or next(self._partners.selected([term]), None) is None:
                return UnmetAffinity(pods, path, term)
        return UnmetAffinity(pods, pods.together[0][0][:-1], None)


def _together(workload: Workload, template: PodTemplate, labels: Mapping[str, str]) -> Terms:
    """The terms, or none if one of them has an invalid field, which another rule reports."""
    affinity = template.spec.affinity
    if not affinity or not all(map(is_valid, entries(affinity, TermKind.TOGETHER.value, REQUIRED))):
        return ()
    return tuple(required_terms(affinity, TermKind.TOGETHER, workload.namespace, labels))


def is_valid(term: Any) -> bool:
    """Whether the API server accepts a term."""
    names, key = mapping(term).get("namespaces") or [], text(term, "topologyKey")
    written = [mapping(term).get(field) for field in ("labelSelector", "namespaceSelector")]
    found = [None if it is None else of_data(mapping(it)) for it in written]
    return (
        isinstance(term, dict)
        and all(isinstance(it, dict | None) for it in written)
        and all(it is None or one is not None for it, one in zip(written, found, strict=True))
        and not any(it is not None and any(faults(it)) for it in found)
        and isinstance(names, list)
        and all(isinstance(it, str) for it in names)
        and not key_fault(key)
    )


def may_match(selector: LabelSelector | None, pods: TemplatePods) -> bool:
    """Whether a selector matches the pods, or may match them because of labels that are not known."""
    if selector is None:
        return False
    labels = pods.labels
    for key, value in selector.match_labels.items():
        if labels.get(key) != value and (key in labels or not pods.may_have(key)):
            return False
    return all(
        it.holds(labels) or (it.key not in labels and pods.may_have(it.key))
        for it in selector.match_expressions
    )


def _is_added(key: str) -> bool:
    """Whether a controller of Kubernetes may add this label."""
    domain, _, _ = key.rpartition("/")
    return domain not in _BY_USERS if domain else key in _ADDED


def _may_make_pods(object_: Object) -> bool:
    """Whether it is of a kind of another project, whose controller may create pods."""
    group = object_.group
    return "." in group and (group in _OPERATORS or not group.endswith(_BUILT_IN))
