"""A Service selects no pod because of a typo, or a port that its pods do not have, so it has no endpoints."""

from collections.abc import Iterator, Mapping, Sequence

from policygen.core.finding import At
from policygen.core.quoting import as_yaml, bare, quoted
from policygen.core.suggest import firm_letters, is_near, is_typo, suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import LabelSelector
from policygen.kubernetes.object import Object
from policygen.kubernetes.pod_terms import PodTerm, TermKind
from policygen.kubernetes.untyped import keyed_texts, numbered, text
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.pod_partners import Partners, TemplatePods, is_open, partners
from policygen.lint.core.pod_templates import PORTS_AS_WRITTEN
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, Need, ObjectRule, Severity, Verb

_INJECTED = ("http-envoy-prom", "linkerd-admin", "linkerd-proxy")
"""Ports of containers that webhooks add to pods."""


def check(facts: Facts) -> Hits:
    """Checks only manifests. Skips selectors without similar labels, because their pods can be created later.

    Source: pkg/controller/endpointslice and staging/src/k8s.io/endpointslice/utils.go, FindPort, of
    Kubernetes 1.36.3.
    """
    values: _Values | None = None
    for service in facts.cluster.of("", "Service"):
        labels = keyed_texts(service.data, "spec", "selector")
        if not labels or text(service.data, "spec", "type") == "ExternalName":
            continue
        values = _values(facts.cluster) if values is None else values
        if not _may_be_wrong(service, labels, values):
            continue  # so most inputs need no index of all pods
        term = _term(service, labels)
        selected = list(facts.derive(partners).selected([term]))
        if selected:
            yield from _ports(service, selected)
        elif not is_open(facts, term):
            yield from _near(facts, service, labels)


_Values = Mapping[str, Mapping[str, Mapping[str, frozenset[str]]]]
"""The values of labels of pods, by namespace and key, with their `firm_letters`."""


def _values(cluster: Cluster) -> _Values:
    found: dict[str, dict[str, dict[str, frozenset[str]]]] = {}
    for workload in cluster.workloads:
        for template in workload.templates:
            if template.labels:
                own = found.setdefault(workload.namespace, {})
                for key, value in template.labels.items():
                    known = own.setdefault(key, {})
                    if value not in known:
                        known[value] = firm_letters(value)
    return found


def _may_be_wrong(service: Object, labels: Mapping[str, str], values: _Values) -> bool:
    """Whether a Service names a port of its pods, or may have a typo in a label."""
    inside = [it for name in ("", service.namespace) if (it := values.get(name))]
    ports = (text(port, "targetPort") for _, port in numbered(service.data, "spec", "ports"))
    if inside and any(name and not name.isdecimal() for name in ports):
        return True
    for key, value in labels.items():
        known = [it[key] for it in inside if key in it]
        if not any(value in it for it in known):  # another wrong label would be a second one
            letters = firm_letters(value)
            return not known or any(
                _same(value, each)
                for it in known
                for each, others in it.items()
                if len(letters ^ others) <= 1  # one slip adds or removes at most one letter
            )
    return False


def _near(facts: Facts, service: Object, labels: Mapping[str, str]) -> Hits:
    """At most one hit: the change of a label by which the Service selects pods."""
    known = facts.derive(partners)
    for key, value in labels.items():
        at = service.at.to("spec", "selector", key)
        for right, meant in _similar(known, service.namespace, key, value):
            term = _term(service, {it: labels[it] for it in labels if it != key} | {right: meant})
            pods = next(known.selected([term]), None)
            if pods is None:
                continue
            is_key = right != key
            yield Hit(
                RULE,
                f"{service} selects no pod, because the pods of {pods.workload} do not have label {key}: {bare(value)}; "
                f"write {right}: {as_yaml(meant)}",
                at.on_key() if is_key else at,
                (pods.template.at,),
                meant=() if is_key else (Edit(Verb.REWRITE, at, meant),),
            )
            return


def _similar(known: Partners, namespace: str, key: str, value: str) -> Iterator[tuple[str, str]]:
    """The labels of pods in a namespace that another one may mean: similar values, and similar keys."""
    inside = ("", namespace)
    values = known.values(key, inside)
    if values:
        yield from ((key, it) for it in values if _same(value, it))
        return
    keys = {it for name in inside for pods in known.namespaces.get(name, ()) for it in pods.labels}
    yield from ((it, value) for it in sorted(keys) if is_typo(key, it))


def _term(service: Object, labels: Mapping[str, str]) -> PodTerm:
    """The pods with these labels in the namespace of a Service."""
    selector = LabelSelector(match_labels=dict(labels))
    return PodTerm(TermKind.APART, "", 0, selector, frozenset({service.namespace}), None)


def _same(value: str, meant: str) -> bool:
    if value[:1] != meant[:1] and value[-1:] != meant[-1:]:
        return False  # so only few values are compared letter by letter
    return is_typo(value, meant) or is_near(value, meant, letters=False)


def _ports(service: Object, selected: Sequence[TemplatePods]) -> Iterator[Hit]:
    """Named ports that none of the selected pods has."""
    if any(it.workload.object.group not in PORTS_AS_WRITTEN for it in selected):
        return  # operators add ports to their pods
    known = sorted({name for it in selected for name in _names(it)})
    for i, port in numbered(service.data, "spec", "ports"):
        name = text(port, "targetPort")
        if name and not name.isdecimal() and name not in (*known, *_INJECTED):
            others = "" if len(selected) == 1 else f" and {len(selected) - 1} more"
            at: At = service.at.to("spec", "ports", i, "targetPort")
            advice = suggest(name, known) if known else "write the number of the port"
            yield Hit(
                RULE,
                f"{service} has targetPort {quoted(name)}, but no container of {selected[0].workload}{others} has a "
                f"port of this name, so the Service has no endpoints; {advice}",
                at,
                tuple(it.template.at for it in selected),
            )


def _names(pods: TemplatePods) -> Iterator[str]:
    spec = pods.template.spec
    for container in (*spec.containers, *spec.init_containers):
        for port in container.ports:
            yield text(port, "name")


RULE = ObjectRule(
    "service-without-endpoints",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Select the labels of the pods, and write the name or number of a port that they have.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("Configuration", "Namespace"),
)
