"""A Volcano Job, or a task of it, has a minAvailable above its replicas."""

from policygen.core.quoting import counted
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs
from policygen.lint.volcano.jobs import number, replicas

_MOST = (1 << 31) - 1
"""Volcano adds the replicas with 32 bits."""


def check(facts: Facts) -> Hits:
    """Source: pkg/webhooks/admission/jobs/validate/admit_job.go, validateJobCreate."""
    for spec in jobs.specs(facts.cluster):
        listed = spec.data.get("tasks")
        total = 0 if isinstance(listed, list) and listed else None
        for name, task in jobs.tasks(spec):
            has, least = replicas(task), number(task, "minAvailable")
            if has is not None and has < 0:
                has = None  # out-of-range reports it
            total = None if has is None or total is None else total + has
            if least is not None and has is not None and least > has:
                yield Hit(
                    RULE,
                    f"task {name} of {spec.owner} has minAvailable {least} but "
                    f"{counted(has, 'replica')}, which Volcano refuses; write at most {has}",
                    task.at / "minAvailable",
                )
        needed = number(spec, "minAvailable")
        if needed is None or total is None:
            continue
        if total > _MOST:
            yield Hit(
                RULE,
                f"the tasks of {spec.owner} have {total} replicas in total, which Volcano refuses; "
                f"write at most {_MOST} replicas in total",
                spec.at / "tasks",
            )
        elif needed > total:
            yield Hit(
                RULE,
                f"{spec.owner} has minAvailable {needed}, but its tasks have {counted(total, 'replica')}, "
                f"which Volcano refuses; write at most {total}",
                spec.at / "minAvailable",
            )


RULE = ObjectRule(
    "min-available-exceeds-replicas",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Set minAvailable to at most the number of replicas.",
    judges=("Job",),
    check=check,
    aliases=("job-waits-for-too-many",),
)
