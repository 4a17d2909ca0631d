"""A workload's queue-name label is no name that a LocalQueue could have."""

from collections.abc import Iterator

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import Hit
from policygen.core.label_grammar import value_fault
from policygen.core.quoting import quoted
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.queue_names import queued
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """What is no label value is refused already. A CronJob is taken, and what it makes is not.

    Source: pkg/controller/jobframework/validation.go, ValidateQueueName.
    """
    for each in facts.cluster.derive(queued):
        if not is_subdomain(each.name) and not value_fault(each.name):
            yield Hit(
                RULE,
                f"{each.workload} goes to {quoted(each.name)}, which no LocalQueue is called: "
                'it is refused; write lower-case letters, digits, "-" and "."',
                each.at,
            )


RULE = ObjectRule(
    "queue-label-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=KINDS,
    check=check,
    reads=("ClusterQueue", "LocalQueue"),
)
