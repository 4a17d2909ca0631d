"""The nodes of manifests or of a cluster, as kube-scheduler's filters see them."""

from collections.abc import Iterator

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import NodeView, TaintView
from policygen.kubernetes.node_groups import Node, Stated
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import text

_PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Prefixes of taints that Kubernetes and cloud providers set for a while, for example on a node that is not ready."""


def listed_nodes(cluster: Cluster) -> Iterator[Node]:
    """The nodes, without taints that pass."""
    for entry in cluster.nodes:
        fields = entry.fields
        of_server = cluster.seen or text(entry.object.data, "metadata", "uid")
        yield Node(
            name=entry.name,
            labels=entry.labels,
            taints=tuple(_lasting(entry)),
            # The API server writes a missing allocatable: SetDefaults_NodeStatus.
            allocatable=fields.status.allocatable or fields.status.capacity,
            unschedulable=fields.spec.unschedulable,
            stated=Stated.ALL if of_server else Stated.WRITTEN,
            at=entry.at,
        )


def _lasting(entry: Entry[NodeView]) -> Iterator[TaintView]:
    for taint in entry.fields.spec.taints:
        if not taint.key.startswith(_PASSING):
            yield taint
