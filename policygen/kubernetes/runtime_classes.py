"""What the RuntimeClass of a pod adds to what the pod requires of a node.

Source: plugin/pkg/admission/runtimeclass/admission.go of Kubernetes 1.36.3, setScheduling.
"""

from msgspec.structs import replace

from policygen.core.finding import Path
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import Requirement
from policygen.kubernetes.node_filters import Demand, Placed
from policygen.kubernetes.workloads import PodSpec

FIELD: Path = ("runtimeClassName",)
"""The place of these requirements below the pod spec."""


def with_runtime_class(cluster: Cluster, spec: PodSpec, own: Demand) -> Demand:
    """The demand of pods with the node selector and the tolerations of their RuntimeClass.

    Without those of a class that is not in the input, or that a server has written into the pod.
    """
    found = cluster.runtime_classes.get(spec.runtime_class_name)
    if found is None:
        return own
    scheduling = found.fields.scheduling
    added = tuple(
        Placed(FIELD, Requirement(key, "In", (value,)))
        for key, value in scheduling.node_selector.items()
        if spec.node_selector.get(key) != value
    )
    tolerations = tuple(it for it in scheduling.tolerations if it not in own.tolerations)
    return replace(
        own, selector=(*own.selector, *added), tolerations=(*own.tolerations, *tolerations)
    )
