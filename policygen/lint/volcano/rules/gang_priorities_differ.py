"""A PodGroup and its pods have different PriorityClasses."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """Volcano reads the class of the group; kube-scheduler and kubelet read that of the pods.

    Source: pkg/scheduler/plugins/priority/priority.go; Kubernetes' docs on pod priority.
    """
    members = facts.cluster.derive(queues.groups)
    for (namespace, name), found in members.items():
        group = facts.cluster.pod_groups.get(name, namespace)
        if group is None or not group.fields.priority_class_name:
            continue
        expected = group.fields.priority_class_name
        classes = facts.cluster.priority_classes
        if classes.any and not classes.knows(expected):
            continue  # priority-class-missing reports it
        for workload, template in found:
            own = template.spec.priority_class_name
            if own != expected:
                has = f'"{own}"' if own else "no class"
                is_pod = workload.kind == "Pod"
                pods = f"{workload} has" if is_pod else f"the pods of {workload} have"
                yield Hit(
                    RULE,
                    f'{group} has PriorityClass "{expected}", but {pods} {has}. Volcano uses the class '
                    "of the PodGroup, and kube-scheduler and kubelet use the class of the pods; write the "
                    "same priorityClassName in both",
                    template.at.to("spec", "priorityClassName"),
                    (group.at.to("spec", "priorityClassName"),),
                )


RULE = ObjectRule(
    "gang-priorities-differ",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set the same priorityClassName in the PodGroup and in its pods.",
    judges=("PodGroup",),
    check=check,
    needs=frozenset({Need.WORKLOADS}),
    reads=("PriorityClass",),
)
