"""Pods belong to a PodGroup that does not exist."""

from policygen.core.names import POD_GROUP
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """The controller creates a PodGroup only for pods that do not name one; other pods wait.

    Source: pkg/controllers/podgroup/pg_controller_handler.go, addPod; pkg/scheduler/cache, Snapshot.
    """
    groups = facts.cluster.pod_groups
    for workload in facts.cluster.workloads:
        if workload.object.group == VOLCANO_BATCH:
            continue  # its controller writes the annotation and creates the group
        for template in workload.templates:
            name = template.annotations.get(POD_GROUP)
            if not name or not queues.to_volcano(template):
                continue
            if groups.knows(name, workload.namespace) or groups.knows(name):
                continue
            yield Hit(
                RULE,
                f'{workload} names PodGroup "{name}", which does not exist, so its pods wait '
                f"forever; {suggest(name, groups.names(workload.namespace), 'PodGroup of this namespace')}",
                template.at.to("metadata", "annotations", POD_GROUP),
            )


RULE = ObjectRule(
    "pod-group-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the name of an existing PodGroup, or remove the annotation.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("PodGroup",),
)
