"""A Job's managedBy is not a valid controller name."""

import re

from policygen.api_validation.metadata import is_subdomain
from policygen.core.quoting import quoted
from policygen.lint.core.webhook_objects import batch_jobs
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_LONGEST = 63
_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+", re.ASCII)


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/batch/validation/validation.go, validateJobSpec."""
    for job in batch_jobs(facts.cluster):
        name = job.managed_by
        domain, slash, rest = (name or "").partition("/")
        if name is not None and not (slash and is_subdomain(domain) and _PATH.fullmatch(rest)):
            yield Hit(
                RULE,
                f"managedBy of {job.workload} is {quoted(name)}, but must have the form domain/name; "
                "write a name such as kueue.x-k8s.io/multikueue, or remove managedBy",
                job.at.to("spec", "managedBy"),
            )
        elif name is not None and len(name) > _LONGEST:
            yield Hit(
                RULE,
                f"managedBy of {job.workload} has {len(name)} characters, but at most {_LONGEST} are "
                "accepted; write a shorter name",
                job.at.to("spec", "managedBy"),
            )


RULE = ObjectRule(
    "managed-by-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write a managedBy of the form domain/name, or remove the field.",
    judges=("CronJob", "Job"),
    check=check,
)
