"""The autoscaler of a pool's nodes: what the checks of its queues and its NodePool show."""

from collections.abc import Iterator

from policygen.core.names import PROVISIONING_CONTROLLER
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.untyped import text
from policygen.plan.node_autoscaler import NODE_POOL
from policygen.spec.types import NodeAutoscaler, NodeClass, Pool

_KARPENTER = "karpenter.sh"


def of_pool(cluster: Cluster, pool: Pool, flavor: str) -> NodeAutoscaler | None:
    """The autoscaler of a pool with this flavor; None if no object shows one.

    The groups of Cluster Autoscaler are not read, since their priorities do not name pools.
    """
    node_class = next(_node_classes(cluster, pool), None)
    # Karpenter does not read ProvisioningRequests.
    requested = None if node_class else next(_provisioning_classes(cluster, flavor), None)
    if node_class is None and requested is None:
        return None
    return NodeAutoscaler(node_class=node_class, provisioning_class=requested)


def _provisioning_classes(cluster: Cluster, flavor: str) -> Iterator[str]:
    for queue in cluster.cluster_queues:
        strategy = queue.fields.admission_checks_strategy
        for rule in strategy.admission_checks if strategy else ():
            check = cluster.admission_checks.get(rule.name)
            if check is None or check.fields.controller_name != PROVISIONING_CONTROLLER:
                continue
            parameters = check.fields.parameters
            config = cluster.provisioning_request_configs.get(parameters.name if parameters else "")
            if config is not None and flavor in (rule.on_flavors or (flavor,)):
                yield config.fields.provisioning_class_name


def _node_classes(cluster: Cluster, pool: Pool) -> Iterator[NodeClass]:
    name = dict(pool.node_selector).get(NODE_POOL, pool.name)
    for found in cluster.objects:
        if (found.group, found.kind, found.name) == (_KARPENTER, "NodePool", name):
            at = ("spec", "template", "spec", "nodeClassRef")
            node_class = NodeClass(*(text(found.data, *at, it) for it in ("group", "kind", "name")))
            if node_class.group and node_class.kind and node_class.name:
                yield node_class
