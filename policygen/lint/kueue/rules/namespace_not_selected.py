"""A LocalQueue is in a namespace that its ClusterQueue does not select."""

from policygen.kubernetes.namespaces import selects
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Its workloads are inadmissible, because the namespace does not match.

    Checked only if the namespace's labels are known, or its name is enough to decide.
    Source: pkg/workload/resources.go, ValidateAdmissibility; issue 301.
    """
    for local in facts.cluster.local_queues:
        queue = facts.cluster.cluster_queues.get(local.fields.cluster_queue)
        if queue is None or queue.fields.namespace_selector is None:
            continue  # other rules report it
        namespace = facts.cluster.namespaces.get(local.namespace)
        if selects(facts.cluster, queue.fields.namespace_selector, local.namespace) is False:
            yield Hit(
                RULE,
                f"{local} is in namespace {local.namespace}, which {queue} does not select, so "
                "its workloads are never admitted; add the namespace to namespaceSelector, or "
                "label the namespace",
                local.at.to("spec", "clusterQueue"),
                related=(
                    queue.at.to("spec", "namespaceSelector"),
                    *([namespace.at.to("metadata", "labels")] if namespace else []),
                ),
            )


RULE = ObjectRule(
    "namespace-not-selected",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Add the namespace to the ClusterQueue's namespaceSelector, or label the namespace.",
    judges=("LocalQueue",),
    check=check,
    reads=("ClusterQueue", "Namespace"),
)
