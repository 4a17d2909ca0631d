"""Tasks of a Volcano Job depend on each other, on an unknown task, or twice on the same task."""

from policygen.core.suggest import suggest
from policygen.kubernetes.untyped import texts
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs


def check(facts: Facts) -> Hits:
    """Volcano reports a cycle and an unknown task alike.

    Source: pkg/webhooks/admission/jobs/validate/util.go, topoSort.
    """
    for spec in jobs.specs(facts.cluster):
        tasks = dict(jobs.tasks(spec))
        waits = {name: texts(task.data, "dependsOn", "name") for name, task in tasks.items()}
        for name, others in waits.items():
            for other in others:
                if other not in tasks and jobs.names_known(spec):
                    yield Hit(
                        RULE,
                        f'task {name} of {spec.owner} depends on unknown task "{other}", which '
                        f"Volcano refuses; {suggest(other, tasks.keys() - {name}, 'other task')}",
                        tasks[name].at.to("dependsOn", "name"),
                    )
        for name, others in waits.items():
            for other in sorted({other for other in others if others.count(other) > 1}):
                yield Hit(
                    RULE,
                    f'task {name} of {spec.owner} depends on "{other}" twice, which Volcano refuses; '
                    "list the task once",
                    tasks[name].at.to("dependsOn", "name"),
                )
        left = {
            name: {other for other in others if other in tasks} for name, others in waits.items()
        }
        while free := [name for name, others in left.items() if not others]:
            left = {name: others - {*free} for name, others in left.items() if others}
        if left:
            first, *more = left
            cycle = (
                f"tasks {', '.join(left)} of {spec.owner} depend on each other, which Volcano refuses; remove dependsOn from one task"
                if more
                else f"task {first} of {spec.owner} depends on itself, which Volcano refuses; remove the task from its dependsOn"
            )
            yield Hit(
                RULE,
                cycle,
                tasks[first].at.to("dependsOn", "name"),
            )


RULE = ObjectRule(
    "job-dependency-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="List each existing task at most once in dependsOn, without a cycle.",
    judges=("Job",),
    check=check,
)
