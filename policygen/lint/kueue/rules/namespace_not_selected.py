"""A LocalQueue is in a namespace that its ClusterQueue does not select."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.namespaces import selects
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Its workloads are inadmissible: the namespace does not match.

    Judged where the namespace's labels are known, or its name decides.
    Source: pkg/workload/resources.go, ValidateAdmissibility; issue 301.
    """
    for local in facts.cluster.local_queues:
        queue = facts.cluster.cluster_queues.get(local.it.cluster_queue)
        if queue is None or queue.it.namespace_selector is None:
            continue  # other rules'
        if selects(facts.cluster, queue.it.namespace_selector, local.namespace) is False:
            yield Hit(
                RULE,
                f"{queue} does not select namespace {local.namespace}, so {local} gets nothing "
                "admitted; add the namespace to the selector, or label it",
                local.at.to("spec", "clusterQueue"),
                related=(queue.at.to("spec", "namespaceSelector"),),
            )


RULE = ObjectRule(
    "namespace-not-selected",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("LocalQueue",),
    check=check,
    reads=("ClusterQueue", "Namespace"),
)
