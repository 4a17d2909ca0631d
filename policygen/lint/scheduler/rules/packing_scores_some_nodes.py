"""A packing profile of kube-scheduler scores only some nodes, so kube-scheduler may not choose the fullest node."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.scheduler.scoring import profiles

_ALL = 100
"""Up to this number of nodes, all are scored; also the percentage that means all nodes."""


def check(facts: Facts) -> Hits:
    """The default falls from about half of the nodes to 5 %, but not below 100 nodes.

    Nothing is reported for a cluster that is known to be small.
    Source: pkg/scheduler/schedule_one.go, numFeasibleNodesToFind.
    """
    if facts.cluster.nodes.any and len(facts.cluster.nodes) <= _ALL:
        return
    for scored in profiles(facts.cluster):
        share = scored.profile.percentage_of_nodes_to_score
        if share is None:
            share = scored.owner.fields.percentage_of_nodes_to_score
        if scored.scoring.packs and share != _ALL:
            yield Hit(
                RULE,
                f"profile {scored.name} packs GPUs, but scores only some nodes of a cluster with more than {_ALL} nodes; "
                "write percentageOfNodesToScore: 100",
                scored.at,
            )


RULE = ObjectRule(
    "packing-scores-some-nodes",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Set percentageOfNodesToScore: 100 in the profile.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
    reads=("Node",),
    aliases=("packing-sees-a-sample",),
)
