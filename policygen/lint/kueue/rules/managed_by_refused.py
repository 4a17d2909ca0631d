"""A Job is left to a controller that no name of a controller could be."""

from collections.abc import Iterator

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import Severity
from policygen.core.quoting import quoted
from policygen.lint.kueue.job_metadata import judged
from policygen.lint.rule import Claim, Facts, Family, Rule

_LONGEST = 63


def check(facts: Facts) -> Iterator[Claim]:
    """Source: pkg/apis/batch/validation/validation.go, validateJobSpec."""
    for workload in facts.cluster.workloads:
        if workload.object.group != "batch":
            continue
        job = judged(workload)
        name = job.managed_by
        domain, slash, rest = (name or "").partition("/")
        if name is not None and not (slash and rest and is_subdomain(domain)):
            yield Claim(
                f"{workload} is managed by {quoted(name)}, which is no domain/name: it is refused; "
                "write one such as kueue.x-k8s.io/multikueue, or take it out",
                job.at.to("spec", "managedBy"),
            )
        elif name is not None and len(name) > _LONGEST:
            yield Claim(
                f"{workload} is managed by a name of {len(name)} characters, more than {_LONGEST}: "
                "it is refused; write a shorter one",
                job.at.to("spec", "managedBy"),
            )


RULE = Rule(
    "managed-by-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=("CronJob", "Job"),
    check=check,
)
