"""The parallelism of a Job is above its completions, so some of its ranks never run."""

from policygen.lint.core.webhook_objects import batch_jobs
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A Job never runs more pods than it has completions left.

    Source: pkg/controller/job/job_controller.go, manageJob.
    """
    for job in batch_jobs(facts.cluster):
        pods, ends = job.spec.get("parallelism", 1), job.spec.get("completions")
        if type(pods) is type(ends) is int and pods > ends:
            yield Hit(
                RULE,
                f"{job.workload} has parallelism {pods} and completions {ends}, so only "
                f"{ends} of {pods} ranks run and wait forever for the others; write completions: {pods} "
                "and completionMode: Indexed",
                job.at.to("spec", "completions"),
                (job.at.to("spec", "parallelism"),),
            )


RULE = ObjectRule(
    "parallelism-exceeds-completions",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write as many completions as ranks, and completionMode: Indexed.",
    judges=("CronJob", "Job"),
    check=check,
    aliases=("job-runs-too-few",),
)
