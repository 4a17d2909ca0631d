"""A Topology has a level whose label is too long for a workload to request."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A Workload's topology request holds 63 characters, but a level's label may have 316.

    Source: apis/kueue/v1beta2/workload_types.go, PodSetTopologyRequest. Not an error: a Topology
    may have levels that no workload requests.
    """
    for topology in facts.cluster.topologies:
        for i, level in enumerate(topology.fields.levels):
            if len(level.node_label) > 63:
                yield Hit(
                    RULE,
                    f"level {level.node_label} of {topology} has {len(level.node_label)} "
                    "characters, but workloads can request only levels of at most 63 characters; "
                    "write a shorter label",
                    topology.at.to("spec", "levels", i, "nodeLabel"),
                )


RULE = ObjectRule(
    "topology-level-too-long",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Use a label of at most 63 characters.",
    judges=("Topology",),
    check=check,
)
