"""On which nodes a DaemonSet runs a pod.

Source: pkg/controller/daemon/daemon_controller.go and util/daemonset_util.go of Kubernetes 1.36.3.
"""

from msgspec.structs import replace

from policygen.kubernetes.core import TolerationView
from policygen.kubernetes.node_filters import CORDON, REQUIRED, Demand
from policygen.kubernetes.node_index import Bits, NodeIndex
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import PodSpec

_ADDED = (
    TolerationView(CORDON.key, "Exists", "", CORDON.effect),
    *(
        TolerationView(f"node.kubernetes.io/{name}", "Exists", "", effect)
        for effect, names in (
            ("NoExecute", ("not-ready", "unreachable")),
            ("NoSchedule", ("disk-pressure", "memory-pressure", "pid-pressure")),
        )
        for name in names
    ),
)
"""The tolerations that the controller adds to the pods."""


def daemon_nodes(index: NodeIndex, pod: Demand) -> Bits:
    """The nodes that certainly take a pod of a DaemonSet if they are empty."""
    pod = with_controller_tolerations(pod)
    nodes = index.takers(pod) & index.certain(pod)
    for name, _ in pod.requests:
        nodes &= ~index.levels(name).unknown
    return nodes


def with_controller_tolerations(pod: Demand) -> Demand:
    """The demand of a pod with what the controller adds to it."""
    return replace(pod, tolerations=(*pod.tolerations, *_ADDED))


def on_node(spec: PodSpec, node: str) -> PodSpec:
    """The pod that the controller creates for a node: the name of the node replaces the required node affinity."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {**mapping(spec.affinity, "nodeAffinity"), REQUIRED: terms}
    return replace(
        spec,
        affinity={**spec.affinity, "nodeAffinity": affinity},
        tolerations=(*spec.tolerations, *_ADDED),
    )
