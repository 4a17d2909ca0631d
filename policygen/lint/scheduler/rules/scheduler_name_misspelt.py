"""Pods name a scheduler that looks like a slip of one that is there."""

from collections.abc import Iterator
from difflib import get_close_matches

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.scheduler.scoring import profile_names
from policygen.lint.volcano.queues import SCHEDULER

_CUTOFF = 0.8


def check(facts: Facts) -> Iterator[Hit]:
    """Nobody answers for an unknown name: no event, no error.

    Source: pkg/scheduler/eventhandlers.go, responsibleForPod; volcano-sh/volcano#604.
    """
    known = {SCHEDULER, *facts.cluster.derive(profile_names)}
    for workload in facts.cluster.workloads:
        for template in workload.templates:
            name = template.spec.scheduler_name
            if not name or name in known:
                continue
            close = get_close_matches(name.lower(), sorted(known), n=1, cutoff=_CUTOFF)
            if close:
                yield Hit(
                    RULE,
                    f'{workload} names scheduler "{name}", which is not there, so its pods wait '
                    f'without an event; did you mean "{close[0]}"?',
                    template.at.to("spec", "schedulerName"),
                )


RULE = ObjectRule(
    "scheduler-name-misspelt",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    reads=("KubeSchedulerConfiguration",),
)
