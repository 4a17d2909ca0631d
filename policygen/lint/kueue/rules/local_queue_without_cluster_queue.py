"""A LocalQueue names a ClusterQueue that does not exist."""

from collections.abc import Mapping

from policygen.api_validation.metadata import is_subdomain
from policygen.core.suggest import is_typo
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import LocalQueueView
from policygen.kubernetes.namespaces import selects_by_name
from policygen.kubernetes.table import Entry
from policygen.lint.core.renamed_objects import NameUse, renamed_objects
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue reports ClusterQueueDoesNotExist and leaves the jobs suspended.

    invalid-value reports names that no ClusterQueue can have. Source: pkg/controller/core/localqueue_controller.go.
    """
    known = facts.cluster.cluster_queues
    locals_ = facts.cluster.local_queues
    uses = (
        NameUse(it, it.fields.cluster_queue, it.at.to("spec", "clusterQueue")) for it in locals_
    )
    renamed = renamed_objects(uses, known)
    for it in renamed.values():
        yield from it.hits(facts, RULE)
    for queue in locals_:
        name = queue.fields.cluster_queue
        at = queue.at.to("spec", "clusterQueue")
        if not name:
            yield Hit(RULE, f"{queue} names no ClusterQueue; write spec.clusterQueue", at)
        elif name not in renamed and not known.knows(name) and is_subdomain(name):
            yield Hit(
                RULE,
                f'{queue} names ClusterQueue "{name}", which does not exist; '
                f"{_advice(facts.cluster, queue)}",
                at,
            )


def _advice(cluster: Cluster, local: Entry[LocalQueueView]) -> str:
    """Proposes a similar ClusterQueue, unless it serves only other namespaces."""
    known = cluster.cluster_queues
    users = cluster.derive(_users)
    for near in known.names().similar(local.fields.cluster_queue):
        queue = known.get(near)
        selector = queue.fields.namespace_selector if queue else None
        closed = selector if selector and not selector.empty else None
        chosen = selects_by_name(closed, local.namespace) if closed else None
        used = local.namespace in users.get(near, {local.namespace})
        if chosen or (chosen is None and (used or is_typo(local.fields.cluster_queue, near))):
            return f'did you mean "{near}"?'
    namespace = f" for namespace {local.namespace}" if local.namespace else ""
    return f"create it, or write the name of a ClusterQueue{namespace}"


def _users(cluster: Cluster) -> Mapping[str, set[str]]:
    """The namespaces whose LocalQueues name each ClusterQueue."""
    found: dict[str, set[str]] = {}
    for local in cluster.local_queues:
        found.setdefault(local.fields.cluster_queue, set()).add(local.namespace)
    return found


RULE = ObjectRule(
    "local-queue-without-cluster-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name an existing ClusterQueue, or create the missing one.",
    judges=("ClusterQueue", "LocalQueue"),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ClusterQueue",),
)
