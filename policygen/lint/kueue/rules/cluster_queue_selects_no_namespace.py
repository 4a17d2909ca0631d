"""A ClusterQueue has no namespaceSelector, so it selects no namespace."""

from policygen.kubernetes.kueue_jobs import target
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Skips queues of a cohort that no LocalQueue names: they may exist only to lend.

    Source: apis/kueue/v1beta2/clusterqueue_types.go, namespaceSelector.
    """
    users = facts.cluster.local_queues.by(target)
    for queue in facts.cluster.cluster_queues:
        if queue.fields.namespace_selector is not None:
            continue
        if queue.fields.cohort_name and queue.name not in users:
            continue
        yield Hit(
            RULE,
            f"{queue} has no namespaceSelector, so it admits no workload of any namespace; "
            "write a namespaceSelector that names the namespaces, or an empty one ({}) for all",
            queue.at.to("spec"),
            related=tuple(entry.at for entry in users.get(queue.name, ())),
        )


RULE = ObjectRule(
    "cluster-queue-selects-no-namespace",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write a namespaceSelector that names the namespaces, or an empty one for all namespaces.",
    judges=("ClusterQueue",),
    check=check,
    reads=("LocalQueue",),
)
