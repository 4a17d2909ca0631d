"""What the rules about drift have in common."""

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
"""The kinds that a spec renders; what only `--with` adds is read where it is rendered.

A test compares them with the catalog, which every lint would import for them.
"""

NEEDS = frozenset({Need.SPEC, Need.SEEN})


def kubectl_of(facts: Facts) -> list[str]:
    """How a command of kubectl about the cluster begins."""
    from policygen.drift.patches import kubectl  # noqa: PLC0415 - only of clusters that are seen

    seen = facts.cluster.seen
    return kubectl(seen.kubectl_context if seen else "", facts.kubeconfig)
