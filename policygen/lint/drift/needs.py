"""Kinds, needs and the kubectl command that all drift rules share."""

from policygen.kubernetes import workloads
from policygen.lint.rule import Facts, Need
from policygen.plan import catalog

KINDS = tuple(
    sorted({it.name for it in catalog.KINDS if not it.extra or it.name in workloads.KINDS})
)
"""The kinds that a spec always renders, and those that other rules read anyway.

Other kinds that only `--with` renders are read if they are rendered.
"""

NEEDS = frozenset({Need.SPEC, Need.SEEN})


def kubectl_of(facts: Facts) -> list[str]:
    """The first words of a kubectl command for the cluster."""
    from policygen.drift.patches import kubectl  # noqa: PLC0415 - only for live clusters

    seen = facts.cluster.seen
    return kubectl(seen.kubectl_context if seen else "", facts.kubeconfig)
