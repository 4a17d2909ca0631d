"""Each workload fits on the nodes, but not all of them together."""

from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.excess_words import advice, exceeded, fault
from policygen.lint.core.model_findings import are_reported
from policygen.lint.core.node_sums import node_sums
from policygen.lint.core.pod_demands import READS
from policygen.lint.core.queue_rooms import READS as READS_OF_QUEUES
from policygen.lint.rule import (
    Facts,
    Family,
    Hit,
    Hits,
    Need,
    ObjectRule,
    Severity,
    TooLargeError,
)


def check(facts: Facts) -> Hits:
    """The other pods stay Pending. Checks workloads whose pods do not end. Nodes count as empty.

    Raises TooLargeError, after its hits, for an input with too many sets of nodes. Source: pkg/scheduler/framework/plugins/noderesources/fit.go of Kubernetes 1.36.3.
    """
    sums = facts.derive(node_sums)
    for it in sums.excesses:
        if are_reported(facts, (each.workload for each in it.members)):
            continue
        last = it.members[-1].workload
        yield Hit(
            RULE,
            f"{fault(it)}; {advice(it)}",
            last.at.to("spec", "replicas"),
            related=tuple(dict.fromkeys(each.workload.at for each in it.members[:-1])),
            exceeds=tuple(exceeded(it, last.at)),
        )
    if sums.unchecked:
        raise TooLargeError(sums.unchecked)


RULE = ObjectRule(
    "workloads-exceed-nodes",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Run fewer pods, request less, or add nodes.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=tuple(dict.fromkeys((*READS, *READS_OF_QUEUES))),
)
