"""A StatefulSet creates the pods of a gang one by one instead of together."""

from policygen.core.finding import At
from policygen.core.names import POD_GROUP
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.queues import MIN_MEMBER, gang_size, groups


def check(facts: Facts) -> Hits:
    """The first pod waits for a gang whose other pods wait for it.

    Source: pkg/controllers/podgroup/pg_controller_handler.go; kubernetes'
    pkg/controller/statefulset/stateful_set_control.go.
    """
    for workload in facts.cluster.workloads:
        size, at = _gang(facts.cluster, workload) if workload.kind == "StatefulSet" else (0, None)
        if size <= 1 or at is None:
            continue
        if workload.spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady":
            yield Hit(
                RULE,
                f"{workload} creates its second pod only when the first is ready, but the first pod "
                f"waits for a gang of {size} pods, so no pod starts; write podManagementPolicy: Parallel",
                workload.at.to("spec", "podManagementPolicy"),
                (at,),
            )


def _gang(cluster: Cluster, workload: Workload) -> tuple[int, At | None]:
    """The size of the gang that pods of a StatefulSet need, without pods of others, and its place."""
    if size := gang_size(workload):
        return size, workload.at.to("metadata", "annotations", MIN_MEMBER)
    [*templates] = workload.templates
    name = templates[0].annotations.get(POD_GROUP, "") if templates else ""
    group = cluster.pod_groups.get(name, workload.namespace) if name else None
    if group is None:
        return 0, None
    members = cluster.derive(groups)[group.namespace, group.name]
    counts = [it.replicas for owner, it in members if owner is not workload]
    if None in counts:
        return 0, None
    beside = sum(it for it in counts if it is not None)
    return group.fields.min_member - beside, group.at.to("spec", "minMember")


RULE = ObjectRule(
    "gang-starts-in-order",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write podManagementPolicy: Parallel.",
    judges=("StatefulSet",),
    check=check,
    reads=("PodGroup", *KINDS),
)
