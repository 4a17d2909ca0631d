"""A job of Volcano, or a task of it, waits for more pods than it has."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.lint.volcano import jobs
from policygen.lint.volcano.jobs import number, replicas, task_name


def check(facts: Facts) -> Iterator[Claim]:
    """Source: pkg/webhooks/admission/jobs/validate/admit_job.go, validateJobCreate."""
    for spec in jobs.specs(facts.cluster):
        total = 0 if isinstance(spec.data.get("tasks"), list | None) else None
        for i, task in enumerate(spec.items("tasks")):
            has, least = replicas(task), number(task, "minAvailable")
            total = None if has is None or total is None else total + has
            if least is not None and has is not None and least > has:
                yield Claim(
                    f"task {task_name(i, task)} of {spec.owner} waits for {least} pods and has "
                    f"{has}, which is refused; write at most that",
                    task.at / "minAvailable",
                )
        wanted = number(spec, "minAvailable")
        if wanted is not None and total is not None and wanted > total:
            yield Claim(
                f"{spec.owner} waits for {wanted} pods, and its tasks have {total}, which is "
                "refused; write at most that",
                spec.at / "minAvailable",
            )


RULE = Rule(
    "job-waits-for-too-many",
    Severity.ERROR,
    Family.INVALID,
    judges=("Job",),
    check=check,
)
