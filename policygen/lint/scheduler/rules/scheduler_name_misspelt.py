"""A pod's schedulerName looks like a misspelled name of a known scheduler."""

from difflib import get_close_matches

from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.scheduler.scoring import profile_names
from policygen.lint.volcano.queues import SCHEDULER

_CUTOFF = 0.8


def check(facts: Facts) -> Hits:
    """No scheduler handles an unknown name: the pod gets no event and no error.

    Source: pkg/scheduler/eventhandlers.go, responsibleForPod; volcano-sh/volcano#604.
    """
    known = {SCHEDULER, *facts.cluster.derive(profile_names)}
    for workload in facts.cluster.workloads:
        places = {
            workload.scheduler_at(template): name  # tasks of a Volcano Job share one
            for template in workload.templates
            if (name := workload.scheduler_name(template)) and name not in known
        }
        for at, name in places.items():
            close = get_close_matches(name.lower(), sorted(known), n=1, cutoff=_CUTOFF)
            if close:
                yield Hit(
                    RULE,
                    f'{workload} names scheduler "{name}", which does not exist, so its pods stay '
                    f'Pending without an event; did you mean "{close[0]}"?',
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
