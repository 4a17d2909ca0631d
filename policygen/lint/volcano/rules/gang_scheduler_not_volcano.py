"""Pods belong to a Volcano gang or queue, but another scheduler schedules them."""

from policygen.core.finding import At, dotted
from policygen.core.names import POD_GROUP, VOLCANO_QUEUE
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.schedulers import profile_names
from policygen.kubernetes.workloads import KINDS, PodTemplate, Workload
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.queues import MIN_MEMBER, SCHEDULER


def check(facts: Facts) -> Hits:
    """Skips unknown schedulers, which may be Volcano under another name.

    The pods of a Volcano Job are created when its PodGroup enters the queue, whatever their scheduler.
    Source: pkg/controllers/podgroup/pg_controller.go, addPod; pkg/controllers/job, createJobPod;
    volcano-sh/volcano#604.
    """
    reported: set[At] = set()
    for workload in facts.cluster.workloads:
        for template in workload.templates:
            group = without_volcano(facts.cluster, workload, template)
            if group is None or (at := workload.scheduler_at(template)) in reported:
                continue
            reported.add(at)  # the tasks of a Volcano Job share one place
            name = workload.scheduler_name(template)
            scheduler = f'"{name}"' if name else "the default scheduler"
            yield Hit(
                RULE,
                f"the pods of {workload} are in a {group[0]}, but {scheduler} schedules them one by "
                f"one, without a queue; write schedulerName: volcano in {dotted(at.path[:-1])}",
                at,
                group[1],
            )


def without_volcano(
    cluster: Cluster, workload: Workload, template: PodTemplate
) -> tuple[str, tuple[At, ...]] | None:
    """Whether pods of a scheduler other than Volcano are in a gang or a queue, and the annotation that says so."""
    name = workload.scheduler_name(template)
    if name == SCHEDULER or (name and name not in cluster.derive(profile_names)):
        return None
    if workload.object.group == VOLCANO_BATCH:
        return "gang", ()
    if MIN_MEMBER in workload.annotations:
        return "gang", (workload.at.to("metadata", "annotations", MIN_MEMBER),)
    for key, group in ((POD_GROUP, "gang"), (VOLCANO_QUEUE, "queue of Volcano")):
        if key in template.annotations:
            return group, (template.at.to("metadata", "annotations", key),)
    return None


RULE = ObjectRule(
    "gang-scheduler-not-volcano",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Set schedulerName: volcano in the pod template, or in spec of a Volcano Job.",
    judges=KINDS,
    check=check,
    reads=("KubeSchedulerConfiguration",),
    aliases=("gang-placed-by-another",),
)
