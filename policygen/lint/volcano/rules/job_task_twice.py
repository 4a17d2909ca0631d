"""A job of Volcano has two tasks of one name."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.core.pod_templates import Part
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.lint.volcano import jobs
from policygen.lint.volcano.jobs import task_name


def check(facts: Facts) -> Iterator[Claim]:
    """Source: pkg/webhooks/admission/jobs/validate/admit_job.go, validateJobCreate."""
    for spec in jobs.specs(facts.cluster):
        seen: dict[str, Part] = {}
        for i, task in enumerate(spec.items("tasks")):
            name = task_name(i, task)
            first = seen.setdefault(name, task)
            if first is not task:
                yield Claim(
                    f"{spec.owner} has two tasks called {name}, which is refused; rename one",
                    task.at / "name",
                    (first.at / "name",),
                )


RULE = Rule("job-task-twice", Severity.ERROR, Family.INVALID, judges=("Job",), check=check)
