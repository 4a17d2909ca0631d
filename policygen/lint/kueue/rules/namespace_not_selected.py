"""A LocalQueue is in a namespace that its ClusterQueue does not select."""

from policygen.core.quoting import some
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.misplaced_queues import misplaced_queues
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_SHOWN = 3
"""The most queues that the advice names."""


def check(facts: Facts) -> Hits:
    """Its workloads are inadmissible, because the namespace does not match.

    Checked only if the namespace's labels are known, or its name is enough to decide.
    Source: pkg/workload/resources.go, ValidateAdmissibility; issue 301.
    """
    misplaced = facts.derive(misplaced_queues)
    for local in facts.cluster.local_queues:
        queue = facts.cluster.cluster_queues.get(local.fields.cluster_queue)
        if queue is None or queue.fields.namespace_selector is None:
            continue  # other rules report it
        namespace = facts.cluster.namespaces.get(local.namespace)
        if selects(facts.cluster, queue.fields.namespace_selector, local.namespace) is False:
            users = misplaced.get(local.at, ())
            advice, at = (
                _advice(facts.cluster, local.namespace),
                local.at.to("spec", "clusterQueue"),
            )
            if users:
                names = some([str(it) for it in users], "other workload")
                uses = "names" if len(users) == 1 else "name"
                advice = (
                    f"write namespace: {users[0].namespace}, where {names} {uses} this LocalQueue"
                )
                at = local.at.to("metadata", "namespace")
            yield Hit(
                RULE,
                f"{local} is in namespace {local.namespace}, which {queue} does not select, so "
                f"its workloads are never admitted; {advice}",
                at,
                related=(
                    queue.at.to("spec", "namespaceSelector"),
                    *([namespace.at.to("metadata", "labels")] if namespace else []),
                ),
            )


def _advice(cluster: Cluster, namespace: str) -> str:
    """Proposes ClusterQueues that select the namespace; the named one may be that of another team."""
    own = [
        queue.name
        for queue in cluster.cluster_queues
        if (selector := queue.fields.namespace_selector) is not None
        and selects(cluster, selector, namespace)
    ]
    if own:
        return f"write clusterQueue: {' or '.join(own[:_SHOWN])}, which {'selects' if len(own) == 1 else 'select'} it"
    return "add the namespace to namespaceSelector, or label the namespace"


RULE = ObjectRule(
    "namespace-not-selected",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name a ClusterQueue that selects the namespace, or add the namespace to namespaceSelector.",
    judges=("LocalQueue",),
    check=check,
    reads=("ClusterQueue", "Namespace", *KINDS),
)
