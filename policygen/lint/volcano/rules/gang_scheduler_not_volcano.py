"""Pods belong to a Volcano gang, but another scheduler schedules them."""

from collections.abc import Mapping

from policygen.core.finding import At
from policygen.core.names import POD_GROUP
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.scheduler.scoring import profile_names
from policygen.lint.volcano.queues import MIN_MEMBER, SCHEDULER


def check(facts: Facts) -> Hits:
    """Skips unknown schedulers, which may be Volcano under another name.

    Source: pkg/controllers/podgroup/pg_controller.go, addPod; volcano-sh/volcano#604.
    """
    others = {"", *facts.cluster.derive(profile_names)}
    for workload in facts.cluster.workloads:
        if workload.object.group == VOLCANO_BATCH:
            continue  # its webhook sets the scheduler
        for template in workload.templates:
            at = _gang(workload.annotations, workload.at, MIN_MEMBER) or _gang(
                template.annotations, template.at, POD_GROUP
            )
            name = template.spec.scheduler_name
            if at is None or name == SCHEDULER:
                continue
            if name in others:
                scheduler = f'"{name}"' if name else "the default scheduler"
                yield Hit(
                    RULE,
                    f"the pods of {workload} are in a gang, but {scheduler} schedules them one by one, "
                    "without a queue; write schedulerName: volcano in the pod template",
                    template.at.to("spec", "schedulerName"),
                    (at,),
                )


def _gang(annotations: Mapping[str, str], owner: At, key: str) -> At | None:
    return owner.to("metadata", "annotations", key) if key in annotations else None


RULE = ObjectRule(
    "gang-scheduler-not-volcano",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Set schedulerName: volcano in the pod template.",
    judges=KINDS,
    check=check,
    reads=("KubeSchedulerConfiguration",),
    aliases=("gang-placed-by-another",),
)
