"""The required anti-affinity of pods names a topologyKey that no node has, so it separates no pods."""

from policygen.core.label_grammar import key_fault
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.node_groups import knows_label
from policygen.kubernetes.untyped import numbered, text
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.known_nodes import known_nodes
from policygen.lint.core.refused_pods import near_label
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A node without the label is in no domain, so the term excludes no node.

    Source: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go (satisfyPodAntiAffinity) of
    Kubernetes 1.36.3.
    """
    nodes = facts.derive(known_nodes).all
    if not nodes:
        return
    absent: dict[str, bool] = {}
    for workload in facts.cluster.workloads:
        for template in workload.templates:
            for i, term in numbered(template.spec.affinity, "podAntiAffinity", REQUIRED):
                key = text(term, "topologyKey")
                if not key or key_fault(key):
                    continue  # pod-field-refused reports it
                if key not in absent:
                    absent[key] = all(key not in it.labels and knows_label(it, key) for it in nodes)
                if absent[key]:
                    meant = near_label(key, nodes)
                    advice = f"write topologyKey: {meant}" if meant else "write another topologyKey"
                    yield Hit(
                        RULE,
                        f"the required podAntiAffinity of {workload} separates no pods, because no node has "
                        f"label {key}; {advice}, or label the nodes",
                        template.at.to(
                            "spec", "affinity", "podAntiAffinity", REQUIRED, i, "topologyKey"
                        ),
                    )


RULE = ObjectRule(
    "anti-affinity-without-domain",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write a topologyKey that the nodes have, such as kubernetes.io/hostname.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=("Node",),
)
