"""A CronJob has a startingDeadlineSeconds below 10, so a short delay of its controller skips runs."""

from policygen.core.finding import at_path
from policygen.core.quoting import counted
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_ADVISED = 10
"""Source: kubernetes.io/docs/concepts/workloads/controllers/cron-jobs, "Deadline for delayed Job start"."""


def check(facts: Facts) -> Hits:
    """The controller creates a Job 100 ms after its time or later, and skips it after the deadline.

    Source: pkg/controller/cronjob/cronjob_controllerv2.go of Kubernetes 1.36.3, syncCronJob and
    nextScheduleTimeDuration.
    """
    for job in facts.cluster.of("batch", "CronJob"):
        deadline = at_path(job.data, ("spec", "startingDeadlineSeconds"))
        if not isinstance(deadline, int) or isinstance(deadline, bool):
            continue
        if not 0 <= deadline < _ADVISED:
            continue
        why = f"so a run is skipped if its controller is {counted(deadline, 'second')} late"
        if deadline == 0:
            why = "so no run ever starts, because its controller creates each Job shortly after its time"
        yield Hit(
            RULE,
            f"{job} has startingDeadlineSeconds: {deadline}, {why}; write {_ADVISED} or more",
            job.at.to("spec", "startingDeadlineSeconds"),
        )


RULE = ObjectRule(
    "cron-deadline-short",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write startingDeadlineSeconds of at least 10, or remove the field.",
    judges=("CronJob",),
    check=check,
)
