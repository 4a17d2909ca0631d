"""A Job has more parallelism than completions, so fewer pods run than it says."""

from collections.abc import Iterator

from policygen.core.finding import Hit, Path, at_path
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule

_WAYS: dict[str, Path] = {"Job": ("spec",), "CronJob": ("spec", "jobTemplate", "spec")}


def check(facts: Facts) -> Iterator[Hit]:
    """No more pods run than completions are left.

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
            run = "pod runs" if ends == 1 else "pods run"
            yield Hit(
                RULE,
                f"{workload} has parallelism {pods} and completions {ends}, so {ends} {run}, "
                f"and ranks that wait for {pods} wait for ever; write completions: {pods} "
                "and completionMode: Indexed",
                workload.at.to(*_WAYS[workload.kind], "completions"),
                (workload.at.to(*_WAYS[workload.kind], "parallelism"),),
            )


RULE = ObjectRule(
    "job-runs-too-few",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("CronJob", "Job"),
    check=check,
)
