"""An autoscaler allows more pods than a ResourceQuota of the namespace."""

from operator import itemgetter

from policygen.core.amounts import readable
from policygen.core.quoting import counted, some
from policygen.kubernetes.pod_quotas import charge, resource_of
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.autoscalers import autoscaler_of
from policygen.lint.core.namespace_quotas import bounds, used_until_deleted
from policygen.lint.core.node_rooms import gpus_beside, most_on_nodes
from policygen.lint.core.pod_demands import READS as READS_OF_PODS
from policygen.lint.core.queue_rooms import READS, rooms_in_queues
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_OF_PODS = ("Deployment", "StatefulSet", "ReplicaSet")
"""Kinds of which a replica is a pod."""


def check(facts: Facts) -> Hits:
    """The API server refuses the pods above the quota. Skips quotas with scopes.

    workload-exceeds-resource-quota reports a quota below the present replicas or the minimum.
    Source: as in lint/core/namespace_quotas.py.
    """
    by_namespace = facts.cluster.derive(bounds)
    used = facts.derive(used_until_deleted)
    in_queue = rooms_in_queues(facts, "replicas-exceed-queue")
    for workload in facts.cluster.workloads:
        limits = by_namespace.get(workload.namespace)
        autoscaler = autoscaler_of(facts.cluster, workload) if limits else None
        if not limits or autoscaler is None or workload.kind not in _OF_PODS:
            continue
        if not workload.templates:
            continue  # another rule reports the template
        [template] = workload.templates
        rooms = []
        for key, bound in limits.items():
            if (each := charge(template.spec, key)) > 0:
                others = [
                    it for it in used.get((workload.namespace, key), {}) if it is not workload
                ]
                beside = sum(used[workload.namespace, key][it] for it in others)
                rooms.append((int((bound.limit - beside) // each), key, others))
        pods, key, others = min(rooms, key=itemgetter(0), default=(autoscaler.most, "", []))
        least = max(1, autoscaler.pods(template.replicas or 0))
        if not least <= pods < autoscaler.most or in_queue.get(id(template), pods + 1) <= pods:
            continue
        bound = limits[key]
        most, room = most_on_nodes(facts, template, pods), gpus_beside(facts, template)
        by_nodes = ""
        if room and least <= room[0] < most:
            most, names = room[0], [str(it) for it in room[1]]
            by_nodes = f" beside {some(names, 'other workload')}" if names else ""
        why = f", because the nodes have room for only {counted(most, 'pod')}{by_nodes}"
        advice = f"set {autoscaler.field} to {most}{why}" if 0 < most < pods else ""
        left = f" beside {some([str(it) for it in others], 'other workload')}" if others else ""
        yield Hit(
            RULE,
            f"{autoscaler.name} allows {counted(autoscaler.most, 'pod')} of {workload}, but {bound.quota} "
            f"allows only {pods}{left} ({key}: {readable(resource_of(key), bound.limit)}), so the API server refuses the others; "
            f"{advice or f'set {autoscaler.field} to {pods}, or raise the quota'}",
            autoscaler.at,
            (bound.quota.at.to("spec", "hard", key), workload.at),
        )


RULE = ObjectRule(
    "autoscaler-exceeds-quota",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Lower the maximum of the autoscaler, or raise the quota.",
    judges=("HorizontalPodAutoscaler", "ScaledObject"),
    check=check,
    reads=tuple(dict.fromkeys(("ResourceQuota", *KINDS, *READS, *READS_OF_PODS, "Node"))),
)
