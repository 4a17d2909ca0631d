"""A label or annotation of Kueue's own, on a workload, has a value that Kueue refuses."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue import configuration
from policygen.lint.kueue.job_metadata import faults, judged, refusing
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """A CronJob is taken, and every Job that it makes is refused.

    Source: pkg/controller/jobframework/validation.go, ValidateJobOnCreate.
    """
    settings = configuration.settings(facts)
    for workload in facts.cluster.workloads:
        if not refusing(workload, settings):
            continue
        job = judged(workload)
        what = f"{workload}" if job.at == workload.at else f"the jobs of {workload}"
        for path, fault in faults(job, settings):
            yield Claim(f"{what}: {fault}", job.at.to("metadata", *path))


RULE = Rule(
    "kueue-annotation-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=KINDS,
    check=check,
    reads=("Configuration",),
)
