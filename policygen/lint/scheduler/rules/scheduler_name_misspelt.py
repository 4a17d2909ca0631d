"""A pod's schedulerName looks like a misspelled name of a known scheduler."""

from policygen.kubernetes.schedulers import meant_scheduler
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """No scheduler handles an unknown name: the pod gets no event and no error.

    Source: pkg/scheduler/eventhandlers.go, responsibleForPod; volcano-sh/volcano#604.
    """
    for workload in facts.cluster.workloads:
        places = {
            workload.scheduler_at(template): name  # tasks of a Volcano Job share one
            for template in workload.templates
            if (name := workload.scheduler_name(template))
        }
        for at, name in places.items():
            meant = meant_scheduler(facts.cluster, name)
            if meant:
                yield Hit(
                    RULE,
                    f'{workload} names scheduler "{name}", which does not exist, so its pods stay '
                    f'Pending without an event; did you mean "{meant}"?',
                    at,
                )


RULE = ObjectRule(
    "scheduler-name-misspelt",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the exact name of the profile, or volcano.",
    judges=KINDS,
    check=check,
    reads=("KubeSchedulerConfiguration",),
)
