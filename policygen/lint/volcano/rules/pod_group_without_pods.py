"""No workload in the namespace of a PodGroup names this PodGroup."""

from policygen.core.names import POD_GROUP
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """Only if the input has workloads of the namespace. Skips groups of controllers.

    Source: pkg/controllers/podgroup/pg_controller.go: pods join by annotation only.
    """
    members = facts.cluster.derive(queues.groups)
    with_workloads = {workload.namespace for workload in facts.cluster.workloads}
    for group in facts.cluster.pod_groups:
        if (
            group.object.is_made
            or not group.name
            or group.namespace not in with_workloads
            or (group.namespace, group.name) in members
        ):
            continue
        yield Hit(
            RULE,
            f"no workload names {group}, so the PodGroup waits forever for {group.fields.min_member} pods; "
            f"write the annotation {POD_GROUP}: {group.name} and schedulerName: "
            "volcano in the pod template",
            group.at.to("metadata", "name"),
        )


RULE = ObjectRule(
    "pod-group-without-pods",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the annotation scheduling.k8s.io/group-name into the pod template.",
    judges=("PodGroup",),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
)
