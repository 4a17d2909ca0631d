"""A workload names a WorkloadPriorityClass that is not there."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.queue_names import PRIORITY, labels, queued
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """No Workload is made, so the job stays suspended with an event as the only sign.

    Source: pkg/util/priority/priority.go; issue 3439.
    """
    known = facts.cluster.workload_priority_classes
    for each in facts.cluster.derive(queued):
        at, found = labels(each.workload)
        name = found.get(PRIORITY)
        if name and not known.knows(name):
            yield Hit(
                RULE,
                f'{each.workload} has WorkloadPriorityClass "{name}", which is not there; '
                f"{suggest(name, known.names())}",
                at / PRIORITY,
            )


RULE = ObjectRule(
    "workload-priority-class-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("WorkloadPriorityClass", "ClusterQueue", "LocalQueue"),
)
