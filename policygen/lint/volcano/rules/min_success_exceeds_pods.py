"""The minSuccess of a Volcano Job is above its pods, so the Job always fails."""

from policygen.core.quoting import counted
from policygen.kubernetes.workloads import sum_of
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs


def check(facts: Facts) -> Hits:
    """Once all pods have ended, a Job with fewer successful pods than minSuccess is Failed.

    A policy with the action CompleteJob can end the Job before. No webhook checks the number.
    Source: pkg/controllers/job/state/running.go of Volcano 1.14.1.
    """
    for spec in jobs.specs(facts.cluster):
        needed = jobs.number(spec, "minSuccess")
        if needed is None or jobs.ends_with_a_task(spec):
            continue
        pods = sum_of(jobs.replicas(task) for _, task in jobs.tasks(spec))
        if pods is not None and 0 < pods < needed:
            yield Hit(
                RULE,
                f"{spec.owner} has minSuccess {needed}, but its tasks have only {counted(pods, 'pod')}, so it fails "
                f"although all pods succeed; write at most {pods}",
                spec.at / "minSuccess",
            )


RULE = ObjectRule(
    "min-success-exceeds-pods",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write at most the number of pods in minSuccess.",
    judges=("Job",),
    check=check,
)
