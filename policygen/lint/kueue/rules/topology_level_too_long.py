"""A topology has a level that no workload can ask for."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """A Workload's topology request holds 63 characters, a level's label may have 316.

    Source: apis/kueue/v1beta2/workload_types.go, PodSetTopologyRequest. No error: a level
    may be there that nobody asks for.
    """
    for topology in facts.cluster.topologies:
        for i, level in enumerate(topology.it.levels):
            if len(level.node_label) > 63:
                yield Hit(
                    RULE,
                    f"no workload can ask for level {level.node_label} of {topology}: a request "
                    f"holds 63 characters, it has {len(level.node_label)}; use a shorter label",
                    topology.at.to("spec", "levels", i, "nodeLabel"),
                )


RULE = ObjectRule(
    "topology-level-too-long",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Topology",),
    check=check,
)
