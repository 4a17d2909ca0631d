"""A PodGroup or Volcano Job and its pods have different PriorityClasses."""

from policygen.kubernetes import priorities
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.workloads import Workload
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues

_FIELD = ("spec", "priorityClassName")


def check(facts: Facts) -> Hits:
    """Volcano reads the class of the group; kube-scheduler and kubelet read that of the pods.

    A Job gives its class to its group, and to pods without a class. Tasks of a Job may have different classes, by which
    Volcano orders their pods.
    Source: pkg/scheduler/plugins/priority/priority.go; pkg/controllers/job; Kubernetes' docs on pod priority.
    """
    yield from _of_groups(facts.cluster)
    for job in facts.cluster.workloads_of(VOLCANO_BATCH):
        if job.kind == "Job" and job.templates:
            yield from _of_job(facts.cluster, job)


def _of_groups(cluster: Cluster) -> Hits:
    for (namespace, name), found in cluster.derive(queues.groups).items():
        group = cluster.pod_groups.get(name, namespace)
        if group is None or not group.fields.priority_class_name:
            continue
        expected = group.fields.priority_class_name
        if _is_missing(cluster, expected):
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
                    template.at.to(*_FIELD),
                    (group.at.to(*_FIELD),),
                )


def _of_job(cluster: Cluster, job: Workload) -> Hits:
    own, *others = dict.fromkeys((str(job.spec.get("priorityClassName") or ""), *_classes(job)))
    values = {priorities.of_class(cluster, it) for it in others}
    if (
        own in _classes(job)
        or "" in others
        or any(_is_missing(cluster, it) for it in (own, *others))
    ):
        return
    if values == {priorities.of_class(cluster, own)} != {None}:
        return
    pods = " and ".join(f'"{it}"' for it in others)
    use = "Volcano orders and preempts Jobs by the class of the Job, and kube-scheduler and kubelet use the class of the pods"
    if own:
        message = f'{job} has PriorityClass "{own}", but its pods have {pods}. {use}; write the same priorityClassName in both'
    else:
        name = f": {others[0]}" if len(others) == 1 else ""
        message = (
            f"{job} has no PriorityClass, but its pods have {pods}. {use}, so the Job has priority "
            f"{priorities.default(cluster)}; write priorityClassName{name} in spec of the Job too"
        )
    related = tuple(it.at.to(*_FIELD) for it in job.templates)
    yield Hit(RULE, message, job.at.to(*_FIELD), related)


def _classes(job: Workload) -> list[str]:
    return [it.spec.priority_class_name for it in job.templates]


def _is_missing(cluster: Cluster, name: str) -> bool:
    classes = cluster.priority_classes
    return bool(name) and classes.any and not classes.knows(name)


RULE = ObjectRule(
    "gang-priorities-differ",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set the same priorityClassName in the PodGroup or Job and in its pods.",
    judges=("PodGroup", "Job"),
    check=check,
    needs=frozenset({Need.WORKLOADS}),
    reads=("PriorityClass",),
)
