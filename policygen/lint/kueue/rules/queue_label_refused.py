"""A workload's queue-name label is not a valid LocalQueue name."""

from policygen.api_validation.metadata import is_subdomain
from policygen.core.label_grammar import value_fault
from policygen.core.quoting import quoted
from policygen.kubernetes.kueue_jobs import queued
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Another rule reports invalid label values. A CronJob is accepted, but its Jobs are refused.

    Source: pkg/controller/jobframework/validation.go, ValidateQueueName.
    """
    for job in facts.cluster.derive(queued):
        if not is_subdomain(job.name) and not value_fault(job.name):
            yield Hit(
                RULE,
                f"{job.workload} has queue name {quoted(job.name)}, which Kueue refuses, because this is "
                'not a valid object name; write lower-case letters, digits, "-" and "."',
                job.at,
            )


RULE = ObjectRule(
    "queue-label-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the name of the LocalQueue in the label.",
    judges=KINDS,
    check=check,
    reads=("ClusterQueue", "LocalQueue"),
)
