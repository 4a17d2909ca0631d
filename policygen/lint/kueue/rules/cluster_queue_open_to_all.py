"""A ClusterQueue takes every namespace where its neighbours name theirs."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.names import NAMESPACE_NAME
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Whoever may create a LocalQueue anywhere can spend its quota.

    Only where another queue restricts its namespaces: a set in which all are open means it.
    Source: tasks/manage/rbac.md of Kueue's documentation.
    """
    queues = facts.cluster.cluster_queues
    selectors = [(queue, queue.it.namespace_selector) for queue in queues]
    if all(selector is None or selector.empty for _, selector in selectors):
        return
    for queue, selector in selectors:
        if selector is not None and selector.empty:
            yield Hit(
                RULE,
                f"{queue} is open to every namespace, while others name theirs; write a "
                f"namespaceSelector on {NAMESPACE_NAME}",
                queue.at.to("spec", "namespaceSelector"),
            )


RULE = ObjectRule(
    "cluster-queue-open-to-all",
    Severity.INFO,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
)
