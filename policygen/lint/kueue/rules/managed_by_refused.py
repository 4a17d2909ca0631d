"""A Job is left to a controller that no name of a controller could be."""

from collections.abc import Iterator

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import Hit
from policygen.core.quoting import quoted
from policygen.core.rule import Severity
from policygen.lint.kueue.job_metadata import judged
from policygen.lint.rule import Facts, Family, ObjectRule

_LONGEST = 63


def check(facts: Facts) -> Iterator[Hit]:
    """Source: pkg/apis/batch/validation/validation.go, validateJobSpec."""
    for workload in facts.cluster.workloads:
        if workload.object.group != "batch":
            continue
        job = judged(workload)
        name = job.managed_by
        domain, slash, rest = (name or "").partition("/")
        if name is not None and not (slash and rest and is_subdomain(domain)):
            yield Hit(
                RULE,
                f"{workload} is managed by {quoted(name)}, which is no domain/name: it is refused; "
                "write one such as kueue.x-k8s.io/multikueue, or take it out",
                job.at.to("spec", "managedBy"),
            )
        elif name is not None and len(name) > _LONGEST:
            yield Hit(
                RULE,
                f"{workload} is managed by a name of {len(name)} characters, more than {_LONGEST}: "
                "it is refused; write a shorter one",
                job.at.to("spec", "managedBy"),
            )


RULE = ObjectRule(
    "managed-by-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("CronJob", "Job"),
    check=check,
)
