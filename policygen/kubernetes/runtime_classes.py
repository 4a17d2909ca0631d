"""What the RuntimeClass of a pod adds to what the pod requires of a node.

Source: plugin/pkg/admission/runtimeclass/admission.go of Kubernetes 1.36.3, setScheduling.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from policygen.core.finding import Path
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import Requirement, TolerationView
from policygen.kubernetes.node_filters import Demand, Placed
from policygen.kubernetes.untyped import keyed_texts, mapping, mappings, text
from policygen.kubernetes.workloads import PodSpec

FIELD: Path = ("runtimeClassName",)
"""The place of these requirements below the pod spec."""


def with_runtime_class(cluster: Cluster, spec: PodSpec, own: Demand) -> Demand:
    """The demand of pods with the node selector and the tolerations of their RuntimeClass.

    Without those of a class that is not in the input.
    """
    found = cluster.derive(_scheduling).get(spec.runtime_class_name)
    if not found:
        return own
    added = tuple(
        Placed(FIELD, Requirement(key, "In", (value,)))
        for key, value in keyed_texts(found, "nodeSelector").items()
    )
    tolerations = tuple(
        TolerationView(text(it, "key"), text(it, "operator"), text(it, "value"), text(it, "effect"))
        for it in mappings(found, "tolerations")
    )
    return replace(
        own, selector=(*own.selector, *added), tolerations=(*own.tolerations, *tolerations)
    )


def _scheduling(cluster: Cluster) -> Mapping[str, dict[str, Any]]:
    """The field `scheduling` of each RuntimeClass by its name."""
    return {
        it.name: mapping(it.data, "scheduling") for it in cluster.of("node.k8s.io", "RuntimeClass")
    }
