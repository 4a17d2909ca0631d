"""The nodes have room for fewer pods than the maximum of an autoscaler."""

from policygen.core.quoting import counted, some
from policygen.kubernetes import accelerators
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.autoscalers import autoscaler_of
from policygen.lint.core.limit_range_refusals import is_refused_by_range
from policygen.lint.core.node_rooms import exceeding, gpus_beside, most_on_nodes
from policygen.lint.core.pod_demands import demands_by_template
from policygen.lint.core.rules import autoscaler_exceeds_quota, replicas_exceed_queue
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_OF_PODS = ("Deployment", "StatefulSet", "ReplicaSet")
"""Kinds of which a replica is a pod."""
_OTHERS = (autoscaler_exceeds_quota.RULE, replicas_exceed_queue.RULE)
"""The rules that report a maximum above a quota, and propose what the nodes have room for."""


def check(facts: Facts) -> Hits:
    """Checks pods with GPUs on nodes without other pods, or beside those of workloads that certainly use these nodes.

    Skips input in which Karpenter or a pool of the spec adds nodes. replicas-exceed-nodes reports a minimum without
    room. Source: as in lint/core/node_rooms.py.
    """
    pools = facts.plan.pools if facts.plan else ()
    if facts.cluster.node_pools.any or any(it.pool.autoscaler for it in pools):
        return
    found = []
    for workload in facts.cluster.workloads:
        autoscaler = autoscaler_of(facts.cluster, workload)
        if autoscaler is None or workload.kind not in _OF_PODS or len(workload.templates) != 1:
            continue
        [template] = workload.templates
        if not accelerators.requested(facts.cluster, template):
            continue
        it = facts.derive(demands_by_template).get(id(template))
        if it is None or it in facts.derive(exceeding) or is_refused_by_range(facts, workload):
            continue
        pods, others = most_on_nodes(facts, template, autoscaler.most), ", even without other pods"
        if pods == autoscaler.most and (room := gpus_beside(facts, template)):
            pods, names = room[0], [str(each) for each in room[1]]
            others = f" beside {some(names, 'other workload')}" if names else others
        if max(1, autoscaler.pods(template.replicas or 0)) <= pods < autoscaler.most:
            found.append((workload, autoscaler, pods, others))
    reported = set(places(facts, _OTHERS)) if found else ()
    for workload, autoscaler, pods, others in found:
        if autoscaler.at not in reported:
            yield Hit(
                RULE,
                f"{autoscaler.name} allows {counted(autoscaler.most, 'pod')} of {workload}, but the nodes have room for only "
                f"{pods}{others}; set {autoscaler.field} to {pods}, or add nodes",
                autoscaler.at,
                (workload.at,),
            )


RULE = ObjectRule(
    "autoscaler-exceeds-nodes",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Lower the maximum of the autoscaler, or add nodes.",
    judges=("HorizontalPodAutoscaler", "ScaledObject"),
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=tuple(
        dict.fromkeys(
            (
                "NodePool",
                "Node",
                *KINDS,
                *autoscaler_exceeds_quota.RULE.reads,
                *replicas_exceed_queue.RULE.reads,
            )
        )
    ),
)
