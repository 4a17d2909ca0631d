"""A workload has a Kueue label or annotation with a value that Kueue refuses."""

from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.known_keys import KUEUE
from policygen.lint.core.metadata_keys import of_domain
from policygen.lint.core.webhook_objects import webhook_object
from policygen.lint.kueue import configuration
from policygen.lint.kueue.job_metadata import faults, refusing
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue accepts a CronJob, but refuses every Job that it creates.

    Source: pkg/controller/jobframework/validation.go, ValidateJobOnCreate.
    """
    settings = configuration.settings(facts)
    keyed = of_domain(facts.cluster, KUEUE)
    for workload in dict.fromkeys(metadata.workload for metadata in keyed):
        if not refusing(workload, settings):
            continue
        job = webhook_object(workload)
        for path, fault in faults(job, settings):
            same = job.at == workload.at
            subject = f"{workload}" if same else f"Kueue refuses the Jobs of {workload}"
            yield Hit(RULE, f"{subject}: {fault}", job.at.to("metadata", *path))


RULE = ObjectRule(
    "kueue-annotation-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a valid value, or remove the label or annotation.",
    judges=KINDS,
    check=check,
    reads=("Configuration",),
)
