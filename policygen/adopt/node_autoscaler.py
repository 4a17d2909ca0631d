"""The autoscaler of a pool's nodes: what the checks of its queues and its NodePool show."""

from collections.abc import Mapping

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
    name = dict(pool.node_selector).get(NODE_POOL, pool.name)
    node_class = cluster.derive(_node_classes).get(name)
    # Karpenter does not read ProvisioningRequests.
    requested = None if node_class else cluster.derive(_provisioning_classes).get(flavor)
    if node_class is None and requested is None:
        return None
    return NodeAutoscaler(node_class=node_class, provisioning_class=requested)


def _provisioning_classes(cluster: Cluster) -> Mapping[str, str]:
    """By flavor, the first class of a check of a queue with quota in this flavor."""
    found: dict[str, str] = {}
    for queue in cluster.cluster_queues:
        strategy = queue.fields.admission_checks_strategy
        flavors = [it.name for group in queue.fields.resource_groups for it in group.flavors]
        for rule in strategy.admission_checks if strategy else ():
            check = cluster.admission_checks.get(rule.name)
            if check is None or check.fields.controller_name != PROVISIONING_CONTROLLER:
                continue
            parameters = check.fields.parameters
            config = cluster.provisioning_request_configs.get(parameters.name if parameters else "")
            if config is not None and config.fields.provisioning_class_name:
                for flavor in flavors:
                    if not rule.on_flavors or flavor in rule.on_flavors:
                        found.setdefault(flavor, config.fields.provisioning_class_name)
    return found


def _node_classes(cluster: Cluster) -> Mapping[str, NodeClass]:
    """The class of each NodePool, by the name of the NodePool."""
    found: dict[str, NodeClass] = {}
    at = ("spec", "template", "spec", "nodeClassRef")
    for it in cluster.objects:
        if (it.group, it.kind) == (_KARPENTER, "NodePool"):
            node_class = NodeClass(*(text(it.data, *at, key) for key in ("group", "kind", "name")))
            if node_class.group and node_class.kind and node_class.name:
                found.setdefault(it.name, node_class)
    return found
