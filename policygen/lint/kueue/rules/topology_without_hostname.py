"""A Topology does not end with kubernetes.io/hostname, so admitted pods may fit no node."""

from policygen.core.names import HOSTNAME
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue admits pods that fit on no node of their domain, and does not replace failed nodes.

    The CRD refuses the hostname level anywhere but at the end.
    Source: concepts/topology_aware_scheduling.md; apis/kueue/v1beta2/topology_types.go.
    """
    for topology in facts.cluster.topologies:
        levels = topology.fields.levels
        if levels and HOSTNAME not in {level.node_label for level in levels}:
            yield Hit(
                RULE,
                f"{topology} ends with level {levels[-1].node_label}, so Kueue admits pods that "
                f"may fit no node and does not replace failed nodes; add {HOSTNAME} as the last "
                "level",
                topology.at.to("spec", "levels", len(levels) - 1, "nodeLabel"),
            )


RULE = ObjectRule(
    "topology-without-hostname",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add kubernetes.io/hostname as the last level of the Topology.",
    judges=("Topology",),
    check=check,
)
