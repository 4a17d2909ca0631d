"""A ResourceFlavor has tolerations, but no nodeLabels that select its nodes."""

from policygen.lint.kueue.flavor_nodes import needs_labels
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Pods may then run on the tainted nodes, but also on any other node.

    crd-rule-broken reports a flavor that needs labels for its topology.
    Source: pkg/podset/podset.go, FromAssignment.
    """
    refused = "crd-rule-broken" in facts.run
    for flavor in facts.cluster.flavors:
        if refused and needs_labels(flavor.fields):
            continue
        if flavor.fields.tolerations and not flavor.fields.node_labels:
            yield Hit(
                RULE,
                f"{flavor} has tolerations but no nodeLabels, so pods may run on the tainted "
                "nodes and on any other node; write the labels of the intended nodes in nodeLabels",
                flavor.at.to("spec", "tolerations"),
            )


RULE = ObjectRule(
    "flavor-tolerates-without-labels",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add the labels of the intended nodes to nodeLabels.",
    judges=("ResourceFlavor",),
    check=check,
)
