"""A pod selects nodes by a label whose key looks misspelled."""

from collections.abc import Collection, Iterator
from functools import cache

from policygen.core.finding import At
from policygen.kubernetes.node_filters import demand
from policygen.kubernetes.node_groups import USUAL_LABELS, meant_label
from policygen.kubernetes.workloads import KINDS, PodTemplate
from policygen.lint.core.known_nodes import node_index
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_SEPARATORS = str.maketrans("", "", "-._")
_REQUIRING = ("In", "Exists", "Gt", "Lt")
"""Operators that a node without the label does not match."""


def check(facts: Facts) -> Hits:
    """Kueue ignores keys that no flavor has, and admits the workload; its pods then fit no node.

    Compares with the labels of flavors and topologies, and with those that each node has. With nodes,
    or with the pools of a spec, pod-fits-no-node reports the pods.
    Source: pkg/scheduler/flavorassigner/flavorassigner.go of Kueue 0.19.2, flavorSelector.
    """
    cluster = facts.cluster
    if cluster.seen is not None or facts.derive(node_index).all:
        return
    known = {key for flavor in cluster.flavors for key in flavor.fields.node_labels}
    known |= {it.node_label for topology in cluster.topologies for it in topology.fields.levels}
    meant = cache(lambda key: _meant(key, sorted(known.union(USUAL_LABELS))))
    for workload in cluster.workloads:
        for template in workload.templates:
            for key, at in _keys(template):
                right = meant(key)
                if right and right not in dict(_keys(template)):
                    yield Hit(
                        RULE,
                        f'{workload} selects nodes by label "{key}", which looks misspelled, so its '
                        f'pods fit no node; did you mean "{right}"?',
                        at,
                        tuple(
                            it.at.to("spec", "nodeLabels", right).on_key()
                            for it in cluster.flavors
                            if right in it.fields.node_labels
                        )[:1],
                    )


def _keys(template: PodTemplate) -> Iterator[tuple[str, At]]:
    """The labels that every node for the pods must have, and their places."""
    spec, at = template.spec, template.at / "spec"
    for key in spec.node_selector:
        yield key, at.to("nodeSelector", key).on_key()
    terms = (demand(spec, {}).terms or ()) if spec.affinity else ()
    for it in terms[0].requirements if len(terms) == 1 else ():
        if it.requirement.operator in _REQUIRING:
            yield it.requirement.key, at.to(*it.path, "key")


def _meant(key: str, known: Collection[str]) -> str:
    """The known key of which a key is a misspelling, or "": a letter too many or too few, or other separators."""
    if key in known:
        return ""
    plain = key.translate(_SEPARATORS)
    return meant_label(key, known) or next(
        (it for it in known if it.translate(_SEPARATORS) == plain), ""
    )


RULE = ObjectRule(
    "node-label-misspelt",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the label that the nodes have.",
    judges=KINDS,
    check=check,
    reads=("ResourceFlavor", "Topology", "Node"),
)
