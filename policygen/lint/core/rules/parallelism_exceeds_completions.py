"""A Job has more parallelism than completions, so it runs fewer pods than it has ranks."""

from policygen.core.finding import Path, at_path
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_WAYS: dict[str, Path] = {"Job": ("spec",), "CronJob": ("spec", "jobTemplate", "spec")}


def check(facts: Facts) -> Hits:
    """A Job never runs more pods than it has completions left.

    Source: pkg/controller/job/job_controller.go, manageJob.
    """
    for workload in facts.cluster.workloads:
        if workload.object.group != "batch" or workload.kind not in _WAYS:
            continue
        data = at_path(workload.object.data, _WAYS[workload.kind])
        if not isinstance(data, dict):
            continue
        pods, ends = data.get("parallelism", 1), data.get("completions")
        if type(pods) is type(ends) is int and pods > ends:
            runs = f"{ends} pod runs" if ends == 1 else f"{ends} pods run"
            yield Hit(
                RULE,
                f"{workload} has parallelism {pods} and completions {ends}, so {runs}, "
                f"and ranks that wait for {pods} pods never start; write completions: {pods} "
                "and completionMode: Indexed",
                workload.at.to(*_WAYS[workload.kind], "completions"),
                (workload.at.to(*_WAYS[workload.kind], "parallelism"),),
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
