"""A ClusterQueue accepts every namespace, while other ClusterQueues name their namespaces."""

from policygen.core.names import NAMESPACE_NAME
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Any user who may create a LocalQueue in some namespace can use its quota.

    Reported only if another queue restricts its namespaces: if all are open, it is intended.
    Source: tasks/manage/rbac.md of Kueue's documentation.
    """
    queues = facts.cluster.cluster_queues
    selectors = [(queue, queue.fields.namespace_selector) for queue in queues]
    if all(selector is None or selector.empty for _, selector in selectors):
        return
    for queue, selector in selectors:
        if selector is not None and selector.empty:
            yield Hit(
                RULE,
                f"{queue} accepts every namespace, while other ClusterQueues name their namespaces; "
                f"write a namespaceSelector with label {NAMESPACE_NAME}",
                queue.at.to("spec", "namespaceSelector"),
            )


RULE = ObjectRule(
    "cluster-queue-open-to-all",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Name the namespaces in namespaceSelector.",
    judges=("ClusterQueue",),
    check=check,
)
