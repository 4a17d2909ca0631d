"""Pods without GPUs tolerate the taint of GPU nodes, so they can fill these nodes."""

from policygen.core.names import KUBE_SYSTEM
from policygen.core.quoting import counted
from policygen.core.tolerations import tolerates
from policygen.kubernetes.core import TaintView
from policygen.kubernetes.node_filters import HARD
from policygen.kubernetes.priorities import BUILT_IN
from policygen.kubernetes.workloads import KINDS, PodSpec
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.pod_demands import READS, PodDemand, pod_demands
from policygen.lint.core.refused_pods import named
from policygen.lint.core.rules.gpu_nodes_open import gpu_nodes, is_plain
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A toleration allows a node, but does not select it, so such pods run on any node.

    Reported only if nodes without GPUs take the same pods. Skips workloads of which other pods request
    GPUs, and programs of the cluster that tolerate every taint.
    Source: pkg/scheduler/framework/plugins/tainttoleration of Kubernetes 1.36.3.
    """
    index, nodes = facts.derive(node_index), facts.derive(gpu_nodes)
    if not nodes.tainted or not nodes.without:
        return
    demands = facts.derive(pod_demands)
    users = {it.workload.at for it in demands if not is_plain(it)}
    for it in demands:
        takers = 0 if it.workload.at in users else index.takers(it.ways[0].demand)
        if not takers & nodes.tainted or not takers & nodes.without:
            continue
        _, first = next(index.entries(takers & nodes.tainted))
        taint = next(filter(_keeps_away, first.taints))
        place = _toleration(it, taint)
        if place is not None:
            count = (takers & nodes.tainted).bit_count()
            yield Hit(
                RULE,
                f"the pods of {it.workload} request no GPU, but tolerate taint {named(taint)}, so they can use up the "
                f"cpu and memory of {counted(count, 'node')} with GPUs; remove the toleration, or select nodes in "
                "nodeSelector",
                it.template.at.to("spec", "tolerations", place),
            )


def _keeps_away(taint: TaintView) -> bool:
    return taint.effect in HARD


def _toleration(it: PodDemand, taint: TaintView) -> int | None:
    """The number of the toleration of the taint; one of every taint counts only for pods of users."""
    spec: PodSpec = it.template.spec
    of_cluster = (
        spec.host_network
        or it.workload.namespace == KUBE_SYSTEM
        or spec.priority_class_name in BUILT_IN
    )
    for i, toleration in enumerate(spec.tolerations):
        if (toleration.key or not of_cluster) and tolerates(toleration, taint):
            return i
    return None


RULE = ObjectRule(
    "gpu-nodes-tolerated",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Remove the toleration, or select nodes in nodeSelector.",
    judges=tuple(it for it in KINDS if it != "DaemonSet"),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=READS,
)
