"""A task of a job of Volcano waits for itself in a circle, twice for one, or for none that is there."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.untyped import texts
from policygen.lint.core.pod_templates import Part
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano import jobs
from policygen.lint.volcano.jobs import names_known, task_name


def check(facts: Facts) -> Iterator[Hit]:
    """Volcano tells of both that there is no order.

    Source: pkg/webhooks/admission/jobs/validate/util.go, topoSort.
    """
    for spec in jobs.specs(facts.cluster):
        tasks = {task_name(i, task): task for i, task in enumerate(spec.items("tasks"))}
        waits = {name: _waits(task) for name, task in tasks.items()}
        for name, others in waits.items():
            for other in others:
                if other not in tasks and names_known(spec):
                    yield Hit(
                        RULE,
                        f'task {name} of {spec.owner} waits for "{other}", which is no task of it: '
                        f"it is refused; {suggest(other, tasks)}",
                        tasks[name].at.to("dependsOn", "name"),
                    )
        for name, others in waits.items():
            for other in sorted({it for it in others if others.count(it) > 1}):
                yield Hit(
                    RULE,
                    f'task {name} of {spec.owner} waits for "{other}" twice, which is refused; write '
                    "it once",
                    tasks[name].at.to("dependsOn", "name"),
                )
        left = {name: {it for it in others if it in tasks} for name, others in waits.items()}
        while free := [name for name, others in left.items() if not others]:
            left = {name: others - {*free} for name, others in left.items() if others}
        if left:
            yield Hit(
                RULE,
                f"tasks {', '.join(left)} of {spec.owner} wait for each other, which is refused; "
                "let one of them start first",
                tasks[next(iter(left))].at.to("dependsOn", "name"),
            )


def _waits(task: Part) -> tuple[str, ...]:
    return texts(task.data, "dependsOn", "name")


RULE = ObjectRule(
    "job-dependency-refused", Severity.ERROR, Family.INVALID, __doc__, judges=("Job",), check=check
)
