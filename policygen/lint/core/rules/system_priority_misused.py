"""A workload with GPUs uses a PriorityClass of Kubernetes' own components."""

from policygen.core.names import KUEUE_NAMESPACE, SYSTEM_NAMESPACES
from policygen.kubernetes import accelerators
from policygen.kubernetes.untyped import text
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_CLASSES = ("system-cluster-critical", "system-node-critical")


def check(facts: Facts) -> Hits:
    """Their value is above that of every other class, so the pods evict all others.

    Kueue uses it as the priority of a workload without a WorkloadPriorityClass, too. Source:
    pkg/apis/scheduling/types.go, SystemCriticalPriority; pkg/util/priority of Kueue 0.19.2.
    """
    reported: set[Workload] = set()
    for workload, template, _ in accelerators.users(facts.cluster):
        if workload.namespace in (*SYSTEM_NAMESPACES, KUEUE_NAMESPACE):
            continue
        if workload.kind == "DaemonSet":
            continue  # agents of nodes
        own = template.spec.priority_class_name
        name = own or text(workload.spec, "priorityClassName")  # of Volcano, for pods without one
        if name in _CLASSES and workload not in reported:
            reported.add(workload)
            yield Hit(
                RULE,
                f"{workload} uses {name}, which is above every other PriorityClass, so its pods evict "
                "pods with GPUs of all teams; write a PriorityClass of your own",
                (template if own else workload).at.to("spec", "priorityClassName"),
            )


RULE = ObjectRule(
    "system-priority-misused",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write a PriorityClass of your own. system- classes are for components of the cluster.",
    judges=KINDS,
    check=check,
)
