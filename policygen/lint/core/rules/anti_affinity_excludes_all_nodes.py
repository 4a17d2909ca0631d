"""Pods repel other pods that run on all nodes that they can use, so they stay Pending."""

from policygen.core.quoting import counted, some
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.occupied_nodes import repelled
from policygen.lint.core.pod_demands import READS
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """DaemonSets run on every node, and workloads that repel their own pods on as many as they have pods.

    Pods that may preempt the others are not reported. Source: see lint/core/occupied_nodes.py.
    """
    for found in facts.derive(repelled):
        names = [str(it.pods.workload) for it in found.occupants]
        others = some(names, "other workload")
        nodes = counted(found.nodes, "node")
        where = f"{'run' if len(names) > 1 else 'runs'} on all {nodes} that they can use"
        if found.nodes == 1:
            where = where.replace("all 1 node", "the only node")
        own = found.it.template.at.to("spec", *found.path)
        advice = "select other pods in podAntiAffinity, or remove the term"
        if not found.path:
            advice = f"change the podAntiAffinity of {others} so that it does not select these pods"
        yield Hit(
            RULE,
            f"no node takes the pods of {found.it.workload}, because {'their' if found.path else 'the'} required "
            f"anti-affinity keeps them apart from {others}, which {where}; {advice}",
            own,
            tuple(dict.fromkeys(it.pods.workload.at for it in found.occupants)),
        )


RULE = ObjectRule(
    "anti-affinity-excludes-all-nodes",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Select other pods in podAntiAffinity, or remove the term.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=(*READS, "Node", "PriorityClass"),
)
