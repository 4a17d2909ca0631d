"""A Job's managedBy is not a valid controller name."""

from policygen.api_validation.metadata import is_subdomain
from policygen.core.quoting import quoted
from policygen.lint.core.webhook_objects import batch_jobs
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_LONGEST = 63


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/batch/validation/validation.go, validateJobSpec."""
    for job in batch_jobs(facts.cluster):
        name = job.managed_by
        domain, slash, rest = (name or "").partition("/")
        if name is not None and not (slash and rest and is_subdomain(domain)):
            yield Hit(
                RULE,
                f"{job.workload} has managedBy {quoted(name)}, which is not a valid domain/name and is "
                "refused; write one such as kueue.x-k8s.io/multikueue, or remove it",
                job.at.to("spec", "managedBy"),
            )
        elif name is not None and len(name) > _LONGEST:
            yield Hit(
                RULE,
                f"{job.workload} has managedBy of {len(name)} characters, more than {_LONGEST}, which "
                "is refused; write a shorter name",
                job.at.to("spec", "managedBy"),
            )


RULE = ObjectRule(
    "managed-by-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a name of the form domain/name, or remove managedBy.",
    judges=("CronJob", "Job"),
    check=check,
)
