"""A Volcano Job has two tasks of the same name."""

from policygen.lint.core.pod_templates import Part
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs


def check(facts: Facts) -> Hits:
    """Source: pkg/webhooks/admission/jobs/validate/admit_job.go, validateJobCreate."""
    for spec in jobs.specs(facts.cluster):
        seen: dict[str, Part] = {}
        for name, task in jobs.tasks(spec):
            first = seen.setdefault(name, task)
            if first is not task:
                yield Hit(
                    RULE,
                    f"{spec.owner} has two tasks with the name {name}, which Volcano refuses; rename one of the tasks",
                    task.at / "name",
                    (first.at / "name",),
                )


RULE = ObjectRule(
    "job-task-twice",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Rename one of the tasks.",
    judges=("Job",),
    check=check,
)
