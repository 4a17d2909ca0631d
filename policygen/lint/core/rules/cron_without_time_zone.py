"""A CronJob with GPUs has no time zone, so its window moves with the clock of the control plane."""

from policygen.core.finding import at_path
from policygen.kubernetes import accelerators
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Only schedules with a fixed hour.

    Source: pkg/controller/cronjob/cronjob_controllerv2.go, which then uses the zone of its process.
    """
    for workload in facts.cluster.workloads_of("batch"):
        schedule = at_path(workload.object.data, ("spec", "schedule"))
        if workload.kind != "CronJob" or not isinstance(schedule, str):
            continue
        fields = schedule.split()
        if "TZ" in schedule or workload.spec.get("timeZone") or len(fields) != 5:
            continue  # `cron-schedule-refused` reports a time zone in the schedule
        fixed = fields[1][:1].isdecimal()
        if fixed and any(accelerators.requested(facts.cluster, it) for it in workload.templates):
            yield Hit(
                RULE,
                f"{workload} has no time zone, so the kube-controller-manager uses its own, which is UTC in "
                "most clusters; write timeZone, such as Europe/Berlin",
                workload.at.to("spec", "schedule"),
            )


RULE = ObjectRule(
    "cron-without-time-zone",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Write timeZone with a name of the time zone database.",
    judges=("CronJob",),
    check=check,
)
