"""A workload with GPUs uses a PriorityClass of Kubernetes' own components."""

from policygen.core.names import KUEUE_NAMESPACE, SYSTEM_NAMESPACES
from policygen.kubernetes import accelerators
from policygen.kubernetes.untyped import text
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_CLASSES = ("system-cluster-critical", "system-node-critical")


def check(facts: Facts) -> Hits:
    """Their value is above that of every other class, so the pods evict all others.

    Kueue uses it as the priority of a workload without a WorkloadPriorityClass, too. Source:
    pkg/apis/scheduling/types.go, SystemCriticalPriority; pkg/util/priority of Kueue 0.19.2.
    """
    for workload in facts.cluster.workloads:
        if workload.namespace in (*SYSTEM_NAMESPACES, KUEUE_NAMESPACE):
            continue
        if workload.kind == "DaemonSet":
            continue  # agents of nodes
        of_job = text(workload.spec, "priorityClassName")  # of Volcano, for pods without one
        for template in workload.templates:
            name = template.spec.priority_class_name or of_job
            if name in _CLASSES and accelerators.requested(facts.cluster, template):
                yield Hit(
                    RULE,
                    f"{workload} uses {name}, which is above every other PriorityClass, so its pods evict "
                    "pods with GPUs of all teams; write a PriorityClass of your own",
                    (template if template.spec.priority_class_name else workload).at.to(
                        "spec", "priorityClassName"
                    ),
                )
                break


RULE = ObjectRule(
    "system-priority-misused",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write a PriorityClass of your own. system- classes are for components of the cluster.",
    judges=KINDS,
    check=check,
)
