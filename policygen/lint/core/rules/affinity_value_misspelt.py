"""One of several values of a node affinity looks misspelled, so the pods never use the nodes that it means."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policygen.core.finding import At
from policygen.core.quoting import as_yaml, bare
from policygen.core.suggest import is_typo
from policygen.hardware import catalog
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.pod_terms import PREFERRED
from policygen.kubernetes.untyped import entries, numbered, text
from policygen.kubernetes.workloads import KINDS, PodTemplate
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, Need, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """The scheduler compares values exactly. Reported only if a node has another value of the list.

    A value that does not resemble one of the nodes can be that of nodes that do not exist yet. If no value
    matches, pod-fits-no-node reports the pods.
    Source: component-helpers/scheduling/corev1/nodeaffinity of Kubernetes 1.36.3.
    """
    for workload in facts.cluster.workloads:
        for template in workload.templates:
            for key, values, at in _expressions(template) if template.spec.affinity else ():
                known = facts.cluster.derive(_values).get(key, frozenset())
                if known.isdisjoint(values):
                    continue
                for i, value in enumerate(values):
                    near = "" if value in known else _near(value, known - {*values})
                    if near:
                        place = at.to("values", i)
                        yield Hit(
                            RULE,
                            f"{workload} selects nodes by {key}: {bare(value)}, which no node has, but nodes have "
                            f"{bare(near)}, so its pods do not use these nodes; write {as_yaml(near)}",
                            place,
                            meant=(Edit(Verb.REWRITE, place, near),),
                        )


def _near(value: str, known: Collection[str]) -> str:
    """The value of a node that certainly was meant."""
    found = [it for it in sorted(known) if is_typo(value, it) or _is_other_product(value, it)]
    return found[0] if len(found) == 1 else ""


def _is_other_product(value: str, near: str) -> bool:
    """Whether a value differs by one character from a GPU product, but is not one itself."""
    differing = [pair for pair in zip(value, near, strict=False) if pair[0] != pair[1]]
    if len(value) != len(near) or len(differing) != 1:
        return False
    return catalog.product(near) is not None and catalog.product(value) is None


def _values(cluster: Cluster) -> Mapping[str, frozenset[str]]:
    """The values of the labels of all nodes; use it with `cluster.derive`."""
    found: dict[str, set[str]] = {}
    for node in cluster.nodes:
        for key, value in node.labels.items():
            found.setdefault(key, set()).add(value)
    return {key: frozenset(values) for key, values in found.items()}


def _expressions(template: PodTemplate) -> Iterator[tuple[str, list[str], At]]:
    """The keys and values of requirements with several values, and their places."""
    affinity, at = template.spec.affinity, template.at.to("spec", "affinity", "nodeAffinity")
    terms: list[tuple[Any, At]] = [
        (it, at.to(REQUIRED, "nodeSelectorTerms", i))
        for i, it in numbered(affinity, "nodeAffinity", REQUIRED, "nodeSelectorTerms")
    ]
    for i, it in numbered(affinity, "nodeAffinity", PREFERRED):
        terms.append((it.get("preference"), at.to(PREFERRED, i, "preference")))
    for term, place in terms:
        for i, it in numbered(term, "matchExpressions"):
            values = entries(it, "values")
            are_texts = all(isinstance(value, str) for value in values)
            if text(it, "operator") == "In" and len(values) > 1 and are_texts:
                yield text(it, "key"), values, place.to("matchExpressions", i)


RULE = ObjectRule(
    "affinity-value-misspelt",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the value that the nodes have.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.NODES}),
)
