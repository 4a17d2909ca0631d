"""No workload of its namespace names this pod group."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.names import POD_GROUP
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import Cluster
from policygen.lint.rule import Facts, Family, Need, ObjectRule
from policygen.lint.volcano import queues


def check(facts: Facts) -> Iterator[Hit]:
    """Only where the input has workloads of that namespace; groups that a controller made are not.

    Source: pkg/controllers/podgroup/pg_controller.go: pods join by annotation alone.
    """
    members = facts.cluster.derive(queues.groups)
    peopled = facts.cluster.derive(_namespaces)
    for group in facts.cluster.pod_groups:
        if (
            group.object.is_made
            or not group.name
            or group.namespace not in peopled
            or (group.namespace, group.name) in members
        ):
            continue
        yield Hit(
            RULE,
            f"{group} is named by no workload here, so it waits for {group.it.min_member} pods "
            f"that never come; write the annotation {POD_GROUP}: {group.name} "
            "and schedulerName: volcano into their template",
            group.at.to("metadata", "name"),
        )


def _namespaces(cluster: Cluster) -> frozenset[str]:
    return frozenset(workload.namespace for workload in cluster.workloads)


RULE = ObjectRule(
    "pod-group-without-pods",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("PodGroup",),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
)
