"""The topology levels that pods request, and those that a flavor's Topology has."""

from collections.abc import Iterator

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import PodTemplate
from policygen.lint.kueue.flavor_nodes import Flavor

PREFIX = "kueue.x-k8s.io/podset-"
UNCONSTRAINED = f"{PREFIX}unconstrained-topology"
LEVELS = (
    f"{PREFIX}required-topology",
    f"{PREFIX}preferred-topology",
    f"{PREFIX}slice-required-topology",
)
"""Annotations of a pod template whose value is a level."""


def requested_levels(template: PodTemplate) -> Iterator[tuple[At, str]]:
    """The levels that a pod template requests, each with its place."""
    for key in LEVELS:
        level = template.annotations.get(key)
        if level:
            yield template.at.to("metadata", "annotations", key), level


def requests_topology(template: PodTemplate) -> bool:
    """Whether a pod template requests any topology placement."""
    return template.annotations.get(UNCONSTRAINED, "").lower() in ("true", "t", "1") or any(
        True for _ in requested_levels(template)
    )


def levels(cluster: Cluster, flavor: Flavor) -> tuple[str, ...] | None:
    """The levels of a flavor's Topology, widest first; None if it is not in the input."""
    topology = cluster.topologies.get(flavor.fields.topology_name)
    return None if topology is None else tuple(it.node_label for it in topology.fields.levels)
