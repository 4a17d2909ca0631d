"""Kinds, needs and the kubectl command that all drift rules share."""

from policygen.lint.rule import Facts, Need

KINDS = (
    "ClusterQueue",
    "Cohort",
    "ConfigMap",
    "Deployment",
    "LimitRange",
    "LocalQueue",
    "Namespace",
    "PodGroup",
    "PriorityClass",
    "Queue",
    "ResourceFlavor",
    "ResourceQuota",
    "Topology",
    "WorkloadPriorityClass",
)
"""The kinds that a spec renders; kinds that only `--with` adds are read if they are rendered.

A test compares them with the catalog, so that lint need not import the catalog.
"""

NEEDS = frozenset({Need.SPEC, Need.SEEN})


def kubectl_of(facts: Facts) -> list[str]:
    """The first words of a kubectl command for the cluster."""
    from policygen.drift.patches import kubectl  # noqa: PLC0415 - only for live clusters

    seen = facts.cluster.seen
    return kubectl(seen.kubectl_context if seen else "", facts.kubeconfig)
