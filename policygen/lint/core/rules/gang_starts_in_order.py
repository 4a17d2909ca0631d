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
        if workload.kind != "StatefulSet":
            continue
        size, at = _gang(facts.cluster, workload)
        ordered = workload.spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady"
        if size > 1 and ordered:
            yield Hit(
                RULE,
                f"{workload} creates its second pod only when the first is ready, but the first pod "
                f"waits for a gang of {size} pods, so no pod starts; write podManagementPolicy: Parallel",
                workload.at.to("spec", "podManagementPolicy"),
                (at,),
            )


def _gang(cluster: Cluster, workload: Workload) -> tuple[int, At]:
    """The pods of a StatefulSet that must start together, beside those of others, and the place of their number."""
    size, at = gang_size(workload), workload.at.to("metadata", "annotations", MIN_MEMBER)
    for template in workload.templates if not size else ():
        name = template.annotations.get(POD_GROUP, "")
        group = cluster.pod_groups.get(name, workload.namespace) if name else None
        if group is None:
            continue
        members = cluster.derive(groups)[group.namespace, group.name]
        others = [it.replicas for owner, it in members if owner is not workload]
        known = [it for it in others if it is not None]
        if len(known) == len(others):
            size, at = group.fields.min_member - sum(known), group.at.to("spec", "minMember")
    return size, at


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
